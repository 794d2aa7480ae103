"""Moves a session to this machine, with its children."""

from coderelay.host.context import HostContext
from coderelay.host.record import Record
from coderelay.protocol.commands import Accepted, MoveSession, Outcome, Unchanged
from coderelay.protocol.errors import CannotRun
from coderelay.protocol.events import AnyEvent
from coderelay.protocol.ids import OwnerId
from coderelay.protocol.machine import MachineIdentity
from coderelay.protocol.translatable import say
from coderelay.session import decide
from coderelay.session.children import children
from coderelay.session.state import State


async def move_here(record: Record, command: MoveSession, context: HostContext) -> Outcome:
    """Raises CannotRun while a living process runs the session on its machine. Children are moved first: if this
    process dies in between, the same command moves the rest."""
    decide.require(record.state)
    for child in children(record.state):
        of_child = await context.records.record(child)
        if of_child.state.settings is not None:
            await _move(of_child, command, context)
    return await _move(record, command, context)


async def _move(record: Record, command: MoveSession, context: HostContext) -> Outcome:
    machine = context.machine.identity
    if machine is None:
        return Unchanged(record.state.head)  # the log is on one machine
    while True:
        owner = record.state.owner
        settings = decide.require(record.state)
        is_here = settings.machine is not None and settings.machine.id == machine.id
        if not is_here and owner is not None and not await context.ownership.may_follow(owner):
            where = "" if settings.machine is None else settings.machine.name
            raise CannotRun(
                say("it is running on another machine: {machine}", machine=where), "Stop its turn, then move it."
            )

        def move(state: State, owner: OwnerId | None = owner, here: MachineIdentity = machine) -> list[AnyEvent]:
            return decide.move(state, command, here) if state.owner == owner else []

        if await record.append(move):
            return Accepted(record.state.head)
        if record.state.owner == owner:
            return Unchanged(record.state.head)
