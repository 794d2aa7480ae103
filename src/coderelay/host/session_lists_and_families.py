"""Lists of sessions: those that a query asks for, and which parent and child sessions belong together."""

from coderelay.host.loaded_session_cache import LoadedSessionCache
from coderelay.protocol.ids import MachineId, SessionId
from coderelay.protocol.projected_rows import Summary
from coderelay.protocol.queries import ListSessions
from coderelay.session.children import children, open_tasks
from coderelay.session.state import State
from coderelay.store.store import Store


async def family_of(sessions: LoadedSessionCache, state: State) -> list[State]:
    """A session, its parent if it has one, and all children of that parent (or else of the session itself)."""
    parent = state.settings.parent if state.settings is not None else None
    head = state if parent is None else (await sessions.load(parent)).state
    others = [(await sessions.load(each)).state for each in children(head) if each != state.session]
    return [state, *others] if head is state else [state, head, *others]


async def waits_for(sessions: LoadedSessionCache, child: State) -> State | None:
    """The parent of this session, if its open turn waits for what this session does."""
    settings = child.settings
    if settings is None or settings.parent is None:
        return None
    parent = (await sessions.load(settings.parent)).state
    return parent if any(each.call.id == settings.parent_call for each in open_tasks(parent)) else None


async def children_of(sessions: LoadedSessionCache, session: SessionId) -> list[Summary]:
    await sessions.summary(session)
    state = (await sessions.load(session)).state
    found = [await sessions.store.session(each) for each in children(state)]
    return [each for each in found if each is not None]


async def without_children(store: Store, query: ListSessions, machine: MachineId | None) -> list[Summary]:
    """The sessions that a query asks for, without child sessions; with a `machine`, only those that it may have."""
    limit = query.limit
    words = query.text.casefold().split()
    while True:
        found = await store.sessions(cwd=query.cwd, limit=limit)
        wanted = [each for each in found if each.parent is None and _has(each, words) and _is_of(each, machine)]
        if len(found) < limit or len(wanted) >= query.limit:
            return wanted[: query.limit]
        limit *= 4


def _is_of(row: Summary, machine: MachineId | None) -> bool:
    return machine is None or row.machine is None or row.machine.id == machine


def _has(row: Summary, words: list[str]) -> bool:
    text = "\n".join((row.title, row.last_prompt, row.cwd, row.id)).casefold()
    return all(word in text for word in words)
