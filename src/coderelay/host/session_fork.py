"""Makes a new session of an existing one, with the same conversation."""

from coderelay.host.can_run import require_machine
from coderelay.host.host_context import HostContext
from coderelay.host.loaded_session import LoadedSession
from coderelay.protocol.commands import Accepted, ForkSession, Outcome
from coderelay.protocol.errors import BadInput
from coderelay.protocol.events import AnyEvent, Recorded
from coderelay.protocol.translatable import say
from coderelay.session import decide
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
