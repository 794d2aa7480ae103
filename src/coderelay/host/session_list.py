"""The list of sessions: which ones, in which order, by which words."""

from coderelay.protocol.ids import MachineId
from coderelay.protocol.projected_rows import Summary
from coderelay.protocol.queries import ListSessions
from coderelay.store.store import Store


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
