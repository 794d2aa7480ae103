"""The contract of an agent, and of the turn it is lent.

An agent thinks and acts; it neither judges nor keeps records. It says what happened to the turn it is
lent, and asks the turn what comes next: always decided from the log, never from the agent's memory.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

from msgspec import Struct

from coderelay.protocol.calls import Call, Finished, Need, Outcome, ToolSpec
from coderelay.protocol.events import HistoryCompacted, MessageAdded
from coderelay.protocol.ids import CallId, SessionId, TurnId
from coderelay.protocol.live import Live
from coderelay.protocol.session_info import CommandShown
from coderelay.session.next_action import Action
from coderelay.session.state import SessionSettings, State
from coderelay.workspace.processes.background import Background


class Description(Struct, frozen=True):
    """What an agent would send to its model: for the snapshot file and for people. `disabled` are tools that the
    configuration takes away, `window` how many tokens its model takes (0: not known), `commands` what may be typed
    after a `/` for the agent itself."""

    system: str
    tools: tuple[ToolSpec, ...]
    disabled: tuple[ToolSpec, ...] = ()
    window: int = 0
    commands: tuple[CommandShown, ...] = ()


class Turn(Protocol):
    """One turn of one session, lent to the agent that runs it."""

    @property
    def session(self) -> SessionId: ...

    @property
    def id(self) -> TurnId: ...

    @property
    def settings(self) -> SessionSettings: ...

    @property
    def state(self) -> State:
        """To read, never to change."""
        ...

    def next_action(self) -> Action: ...

    def background(self) -> Background:
        """The commands of this session that run while it does other things."""
        ...

    async def give_task(self, call: CallId, description: str, prompt: str) -> Finished:
        """Open a child session for a call that has started, and wait for its answer. Raises ToolFailed."""
        ...

    def listener(self, call: CallId) -> Callable[[bytes], None]:
        """To be told what the command of a call writes, so that people can look at it meanwhile."""
        ...

    def show(self, live: Live) -> None:
        """Something to look at meanwhile. May get lost."""
        ...

    async def take_steering(self) -> None:
        """Between two steps: prompts that were sent to steer become part of this turn."""
        ...

    async def may_spend(self) -> bool:
        """To be asked before anything that costs money. False: a person is asked, and the turn waits."""
        ...

    async def compact(self, compacted: HistoryCompacted) -> None:
        """Record that the beginning of the history is a summary now; ends a turn that is there for that."""
        ...

    async def add(self, message: MessageAdded, needs: Sequence[Need], *, final: bool) -> None:
        """Record a finished message. Its calls are judged together before any of them runs; `final`
        ends the turn if there are none."""
        ...

    async def finish(self) -> None:
        """End a turn whose last message was recorded before."""
        ...

    async def perform(self, calls: Sequence[Call], effect: Callable[[Call], Awaitable[Outcome]]) -> None:
        """Run calls, at the same time if there are several: their starts are on disk before `effect` begins, their
        ends before this returns."""
        ...


class Agent(Protocol):
    name: str

    def cannot_run(self, settings: SessionSettings) -> str | None:
        """Why this agent cannot run such a session here, or None."""
        ...

    def describe(self, settings: SessionSettings) -> Description: ...

    async def suggest_title(self, settings: SessionSettings, prompt: str) -> str:
        """For a session that begins with this prompt. Raises ModelFailed."""
        ...

    async def run(self, turn: Turn) -> None:
        """Go on with the turn until it has ended or waits for people. Raises when it cannot."""
        ...

    async def close(self) -> None: ...
