"""The contracts of an agent and of the turn that it runs.

An agent calls the model and the tools. It neither judges calls nor writes the log: it reports what happened to its
Turn, and asks the Turn for the next action, which is always computed from the log and never from the agent's memory.

An agent that `runs_own_loop` is a program of its own. It asks its Turn before it makes a call, waits for the
answer, and tells how the call ended.
"""

from typing import Protocol

from msgspec import Struct

from coderelay.agents.turn import Turn
from coderelay.protocol.query_results import CommandShown
from coderelay.protocol.tool_specs import ToolSpec
from coderelay.session.state import SessionSettings


class Description(Struct, frozen=True):
    """What an agent would send to its model, for the session file and for people. `disabled` are tools that the
    configuration removes, `window` is the size of its model's context window in tokens (0: not known), `commands` are
    slash commands that the agent itself handles."""

    system: str
    tools: tuple[ToolSpec, ...]
    disabled: tuple[ToolSpec, ...] = ()
    window: int = 0
    commands: tuple[CommandShown, ...] = ()


class Agent(Protocol):
    """`runs_own_loop`: the agent runs its own loop and its own calls, and waits for answers in the middle of it.
    `has_own_session_ids`: its program has sessions of its own, and reports their ids only after a turn has begun.
    `stores_raw_messages`: it hands in the messages of its turns in the form `cowork` itself, from `system:init` to
    `result`."""

    name: str
    runs_own_loop: bool
    has_own_session_ids: bool
    stores_raw_messages: bool

    def cannot_run(self, settings: SessionSettings) -> str | None:
        """The reason why this agent cannot run such a session here, or None."""
        ...

    def describe(self, settings: SessionSettings) -> Description: ...

    async def suggest_title(self, settings: SessionSettings, prompt: str) -> str:
        """A title for a session that begins with this prompt. Raises ModelFailed."""
        ...

    async def run(self, turn: Turn) -> None:
        """Run the turn until it has ended or waits for people. Raises when it cannot go on."""
        ...

    async def close(self) -> None: ...
