"""The set of tools an agent can call: looks them up by name, decodes arguments and runs calls."""

import logging
from collections.abc import Container, Iterable, Mapping
from copy import copy
from typing import Any

import msgspec
from msgspec import Struct

from coderelay.protocol.calls import Call, Failed, Finished, Need
from coderelay.protocol.errors import MustAsk, ToolFailed
from coderelay.protocol.tool_specs import ToolSpec
from coderelay.protocol.translatable import say, template_of
from coderelay.tools.tool import CommandFailed, Tool
from coderelay.workspace.workspace import Workspace

log = logging.getLogger(__name__)
SHOWN_CHARS = 50_000


class Toolbox:
    def __init__(self, tools: Iterable[Tool[Any]]) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}
        self._not_here: Mapping[str, str] = {}

    def without(self, names: Container[str]) -> "Toolbox":
        """Return a copy without these tools. A tool that has another name only because its plain name was taken is
        removed by its plain name too."""
        less = copy(self)
        less._tools = {
            name: tool for name, tool in self._tools.items() if name not in names and tool.spec.plain not in names
        }
        return less

    def for_child(self) -> "Toolbox":
        """The tools of a child session, which works for another session. A call of a tool that child sessions lack
        fails with the reason."""
        reasons = {name: tool.spec.refusal_in_subagents for name, tool in self._tools.items()}
        less = copy(self)
        less._not_here = {name: reason for name, reason in reasons.items() if reason}
        return less.without(less._not_here)

    def plus(self, tools: Iterable[Tool[Any]]) -> "Toolbox":
        """Return a copy with these tools added. A tool that is already there is not replaced by one of the same
        name."""
        more = copy(self)
        more._tools = self._tools | {each.spec.name: each for each in tools if each.spec.name not in self._tools}
        return more

    def has(self, name: str) -> bool:
        return name in self._tools

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(tool.spec for tool in self._tools.values())

    def need(self, call: Call, workspace: Workspace) -> Need:
        """Return what the call would touch, or why it cannot run (`problem`)."""
        try:
            tool, arguments = self._parse(call)
            return tool.need(arguments, workspace)
        except ToolFailed as failed:
            return Need(
                tool=call.name, kind="read", title=call.name, problem=failed.message, said=template_of(failed.summary)
            )

    async def run(self, call: Call, workspace: Workspace, judged: Need | None = None) -> Finished | Failed:
        """`judged` is the need that was shown and allowed. Tools of MCP servers are compared with it, because they
        may have changed since."""
        try:
            tool, arguments = self._parse(call)
            if judged is not None and judged.server:
                _check_same(judged, tool.need(arguments, workspace))
            return await tool.run(arguments, workspace)
        except ToolFailed as failed:
            end = failed.end if isinstance(failed, CommandFailed) else None
            return Failed(failed.message, summary=failed.summary, end=end, missing=failed.missing)
        except MustAsk:
            raise
        except Exception as error:  # the door around one call: a broken tool must not end the turn
            log.exception("tool %s failed", call.name)
            return Failed(say("{tool} failed: {why}", tool=call.name, why=f"{type(error).__name__}: {error}"))

    def _parse(self, call: Call) -> tuple[Tool[Any], Struct]:
        tool = self._tools.get(call.name)
        if tool is None and call.name in self._not_here:
            raise ToolFailed(self._not_here[call.name])
        if tool is None:
            raise ToolFailed(
                say("there is no tool {name}; available: {names}", name=repr(call.name), names=", ".join(self._tools))
            )
        try:
            return tool, msgspec.json.decode(call.arguments, type=tool.arguments)
        except (msgspec.DecodeError, RecursionError) as error:
            takes = ", ".join(tool.spec.parameters["properties"])
            raise ToolFailed(
                say("bad arguments for {tool}: {why}; it takes {names}", tool=call.name, why=error, names=takes)
            ) from error


def _check_same(judged: Need, today: Need) -> None:
    """Raise ToolFailed if an MCP tool is not the one that was allowed. Needs recorded before `server_tool` existed
    have none."""
    if today.server != judged.server or judged.server_tool not in ("", today.server_tool):
        raise ToolFailed(
            say(
                "{tool} is not any more what was allowed: another program or another tool has that name now. "
                "The call did not run; make it again, so that it can be judged anew.",
                tool=judged.tool,
            )
        )


def shortened(text: str, most: int = SHOWN_CHARS) -> str:
    """Keep the beginning and the end of a text, and say how many characters are left out between them."""
    text = text.replace("\0", "\ufffd")
    if len(text) <= most:
        return text
    head, tail = most - most // 4, most // 4
    return f"{text[:head]}\n[{len(text) - most} characters left out]\n{text[-tail:]}"
