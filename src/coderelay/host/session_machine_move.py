"""Moves a session to this machine, with its children."""

from coderelay.host.host_context import HostContext
from coderelay.host.loaded_session import LoadedSession
from coderelay.protocol.commands import Accepted, MoveSession, Outcome, Unchanged
from coderelay.protocol.errors import CannotRun
from coderelay.protocol.events import AnyEvent
from coderelay.protocol.ids import MachineIdentity, OwnerId
from coderelay.protocol.translatable import say
from coderelay.session import decide
from coderelay.session.children import children
from coderelay.session.state import State


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
