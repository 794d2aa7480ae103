"""Forks a session (a new one with the same conversation), and moves one to this machine with its children."""

from coderelay.host.can_run import require_machine
from coderelay.host.host_context import HostContext
from coderelay.host.loaded_session import LoadedSession
from coderelay.protocol.commands import Accepted, ForkSession, MoveSession, Outcome, Unchanged
from coderelay.protocol.errors import BadInput, CannotRun
from coderelay.protocol.events import AnyEvent, Recorded
from coderelay.protocol.ids import MachineIdentity, OwnerId
from coderelay.protocol.translatable import say
from coderelay.session import decide
from coderelay.session.children import children
from coderelay.session.fork_events import fork
from coderelay.session.state import State


async def fork_session(loaded: LoadedSession, command: ForkSession, context: HostContext) -> Outcome:
    """The whole log of the fork is one append: nobody sees a part of it. Raises BadInput."""
    settings = decide.require(loaded.state)
    require_machine(settings, context)
    if settings.parent is not None:
        raise BadInput("the session of a subagent cannot be forked")
    agent = context.agents.get(settings.agent)
    if agent is not None and agent.has_own_session_ids:
        raise BadInput(
            say("a session of the agent {name} cannot be forked: it keeps its own history", name=settings.agent)
        )
    log: list[Recorded] = []
    while page := await loaded.read(log[-1].seq if log else 0):
        log += page
    events = fork(log, settings, command, context.machine.identity)
    new = await context.sessions.load(command.to)

    def begin(state: State) -> list[AnyEvent]:
        return events if state.head == 0 else []

    if not await new.append(begin):
        raise BadInput(say("session {session} already exists", session=command.to))
    return Accepted(new.state.head)


async def move_here(loaded: LoadedSession, command: MoveSession, context: HostContext) -> Outcome:
    """Raises CannotRun while a living process runs the session on its machine. Children are moved first: if this
    process dies in between, the same command moves the rest."""
    decide.require(loaded.state)
    for child in children(loaded.state):
        of_child = await context.sessions.load(child)
        if of_child.state.settings is not None:
            await _move(of_child, command, context)
    return await _move(loaded, command, context)


async def _move(loaded: LoadedSession, command: MoveSession, context: HostContext) -> Outcome:
    machine = context.machine.identity
    if machine is None:
        return Unchanged(loaded.state.head)  # the log is on one machine
    while True:
        owner = loaded.state.owner
        settings = decide.require(loaded.state)
        is_here = settings.machine is not None and settings.machine.id == machine.id
        if not is_here and owner is not None and not await context.takeover.may_take_over(owner):
            where = "" if settings.machine is None else settings.machine.name
            raise CannotRun(
                say("it is running on another machine: {machine}", machine=where), "Stop its turn, then move it."
            )

        def move(state: State, owner: OwnerId | None = owner, here: MachineIdentity = machine) -> list[AnyEvent]:
            return decide.move(state, command, here) if state.owner == owner else []

        if await loaded.append(move):
            return Accepted(loaded.state.head)
        if loaded.state.owner == owner:
            return Unchanged(loaded.state.head)
