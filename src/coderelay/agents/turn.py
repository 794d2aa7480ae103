"""The contract of turns: what an agent is lent to run one turn of a session."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from coderelay.protocol.asks import Decision
from coderelay.protocol.calls import Call, Finished, Need, Outcome
from coderelay.protocol.events import HistoryCompacted, MessageAdded
from coderelay.protocol.ids import CallId, SessionId, TurnId
from coderelay.protocol.live_updates import Live
from coderelay.session.external_agent_calls import Continuation
from coderelay.session.next_action import Action
from coderelay.session.state import SessionSettings, State
from coderelay.workspace.processes.background_commands_interface import Background


class Turn(Protocol):
    """One turn of one session, as the agent that runs it sees it."""

    @property
    def session(self) -> SessionId: ...

    @property
    def id(self) -> TurnId: ...

    @property
    def settings(self) -> SessionSettings: ...

    @property
    def state(self) -> State:
        """Read-only for the agent."""
        ...

    def next_action(self) -> Action: ...

    def background(self) -> Background:
        """The background commands of this session."""
        ...

    async def give_task(self, call: CallId, description: str, prompt: str, subagent: str = "") -> Finished:
        """Open a child session for a call that has started, and wait for its answer. `subagent` names the subagent to
        use; it is empty for the general one. Raises ToolFailed."""
        ...

    def listener(self, call: CallId) -> Callable[[bytes], None]:
        """A callback for the output of a call's command, so that people can watch it while it runs."""
        ...

    def show(self, live: Live) -> None:
        """Show a live update to people. It may get lost."""
        ...

    async def take_steering(self) -> None:
        """Called between two steps: prompts that were sent to steer become part of this turn."""
        ...

    async def may_continue(self) -> bool:
        """Called before anything that costs money. If it returns False, a person is asked and the turn waits: the
        budget is used up, or a client offers something that nobody has decided on."""
        ...

    async def compact(self, compacted: HistoryCompacted) -> None:
        """Record that a summary replaces the beginning of the history. This ends a turn whose only task is the
        compaction."""
        ...

    async def add(self, message: MessageAdded, needs: Sequence[Need], *, final: bool) -> None:
        """Record a complete message. Its calls are judged together before any of them runs. With `final`, a message
        without calls ends the turn."""
        ...

    async def finish(self) -> None:
        """End a turn whose last message is already recorded."""
        ...

    async def perform(self, calls: Sequence[Call], effect: Callable[[Call], Awaitable[Outcome]]) -> None:
        """Run calls, concurrently if there are several. Their starts are on disk before `effect` begins, and their
        ends before this returns."""
        ...

    async def attach(self, agent_session_id: str, model: str = "", tools: tuple[str, ...] = ()) -> None:
        """Record the id of the agent's own session, as soon as the agent knows it. An agent that
        `has_own_session_ids` can be continued only then."""
        ...

    async def keep(self, messages: Sequence[str], form: str = "cowork") -> None:
        """Store messages exactly as the agent's program emitted them, each as its JSON text, before anything in them
        is reported in another way. If two messages have the same `uuid`, the first one is stored. Raises BadInput for
        a text that is no JSON object.

        What the agent reports afterwards counts as contained in one of these messages (of the form `cowork`) if the
        ids agree: a message that is added has the message's `uuid` as its id, a call and its end have the ids of a
        `tool_use` and a `tool_result`, and a `result` stands for the end of the turn. Only what is in none of them
        becomes a message that coderelay makes itself."""
        ...

    @property
    def continuation(self) -> Continuation | None:
        """If another process began this blocking turn: what the agent may not know about it. None if this process
        began it."""
        ...

    async def ask(self, call: Call, need: Need) -> Decision:
        """Ask whether a call may be made. Only an agent that `runs_own_loop` may do so. It returns once the policy
        or a person has decided; anything but a denial means that the agent now makes the call itself. The start is on
        disk before this returns. Several calls may be asked about at the same time."""
        ...

    async def heard(self, call: Call, need: Need, outcome: Outcome) -> str:
        """Record how a call ended that the agent made itself, whether it asked before or not. Returns what the
        person's hooks answered about a call that succeeded, for the agent to pass on to its model if it can."""
        ...
