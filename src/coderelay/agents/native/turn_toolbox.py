"""The tools of one turn: the built-in ones, and those of MCP servers, which must be started first."""

from collections.abc import Callable, Collection, Sequence
from typing import Any, Protocol

from coderelay.agents.turn import Turn
from coderelay.protocol.ids import SessionId
from coderelay.protocol.live_updates import Notice
from coderelay.protocol.tool_specs import listed_tools
from coderelay.session.state import SessionSettings, State
from coderelay.tools.tool import Tool
from coderelay.tools.toolbox import Toolbox


class ExtraTools(Protocol):
    async def ready(self) -> None:
        """Called before a step: wait a short time for servers that have not started yet."""
        ...

    async def ready_for(self, names: Collection[str]) -> None:
        """Called before calls of tools that this process does not know yet."""
        ...

    @property
    def tools(self) -> Sequence[Tool[Any]]:
        """The same tool objects until a server lists other tools."""
        ...

    @property
    def notes(self) -> Sequence[str]:
        """Problems, as messages for people."""
        ...


ExtraToolsOf = Callable[[str, State | None], ExtraTools | None]
"""The additional tools of a folder, by its current configuration, and of a session in it. Raises BadInput."""


class TurnToolbox:
    """`told` are the notes that each session has already been shown."""

    def __init__(
        self,
        turn: Turn,
        own: Toolbox,
        more: ExtraToolsOf,
        disabled: Collection[str],
        told: set[tuple[SessionId, str]],
    ) -> None:
        self._turn = turn
        self._own = own
        self._more = more
        self._disabled = disabled
        self._told = told

    async def ready(self, calls: Collection[str] = ()) -> Toolbox:
        """The toolbox for a request to the model, or for running calls of the tools with these names."""
        more = self._more(self._turn.settings.cwd, self._turn.state) if wants_more(self._turn.settings) else None
        if more is None:
            return self._own
        if calls:
            await more.ready_for(calls)
        else:
            await more.ready()
        self.tell(more.notes)
        return self._own.plus(more.tools).without(self._disabled)

    def tell(self, notes: Sequence[str]) -> None:
        for note in notes:
            if (self._turn.session, note) not in self._told:
                self._told.add((self._turn.session, note))
                self._turn.show(Notice(note))


def wants_more(settings: SessionSettings) -> bool:
    """Whether a session may use tools of MCP servers. If not, no server is started for it."""
    listed, _ = listed_tools(settings.enforced_tools)
    return not listed or any(name.startswith("mcp__") for name in listed)
