"""Chooses which tools of MCP servers are offered, within limits on their number and size."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from coderelay.protocol.translatable import say
from coderelay.tools.mcp.mcp_tool import DESCRIPTION_CHARS, McpTool, tool_names
from coderelay.tools.mcp.parameter_schema import parameters_of
from coderelay.tools.mcp.protocol_types import ListedTool
from coderelay.tools.mcp.restarting_server import McpServer

_MOST_TOOLS = 100
_MOST_BYTES = 200_000
"""The limits for all servers together: some providers take 128 tools, and every tool costs tokens in every
request."""


def choose_tools(servers: Mapping[str, McpServer]) -> tuple[tuple[McpTool, ...], list[str]]:
    """The tools that are offered, and what people are told of the others."""
    usable = {name: _usable(server.tools) for name, server in servers.items()}
    room = _shares({name: len(tools) for name, tools in usable.items()}, _MOST_TOOLS)
    sizes = {name: sum(map(_size, tools[: room[name]])) for name, tools in usable.items()}
    bytes_for = _shares(sizes, _MOST_BYTES)
    chosen = [
        (name, *each) for name, tools in usable.items() for each in _fitting(tools[: room[name]], bytes_for[name])
    ]
    names = tool_names([(server, listed.name) for server, listed, _ in chosen])
    tools = tuple(
        McpTool(name, servers[server], listed, parameters)
        for name, (server, listed, parameters) in zip(names, chosen, strict=True)
    )
    offered = Counter(server for server, *_ in chosen)
    left_out: list[str] = [
        say(
            "MCP server {name} {problem}",
            name=name,
            problem=f"has {len(server.tools)} tools; {offered[name]} of them are offered",
        )
        for name, server in servers.items()
        if offered[name] < len(server.tools)
    ]
    return tools, left_out


def _usable(tools: Sequence[ListedTool]) -> list[tuple[ListedTool, dict[str, Any]]]:
    """The tools that can be offered, each name once, sorted by name: a server may list them in another order
    tomorrow."""
    unique = {tool.name: tool for tool in sorted(tools, key=lambda tool: tool.name)}
    found = [(tool, parameters_of(tool.input_schema)) for tool in unique.values()]
    return [(tool, parameters) for tool, parameters in found if parameters is not None and _can_be_named(tool)]


def _can_be_named(tool: ListedTool) -> bool:
    """Whether the name can be shown: people are asked about the tool by its name."""
    return bool(tool.name.strip()) and tool.name.isprintable()


def _size(tool: tuple[ListedTool, dict[str, Any]]) -> int:
    listed, parameters = tool
    return len(msgspec.json.encode(parameters)) + len((listed.description or "")[:DESCRIPTION_CHARS].encode())


def _fitting(
    tools: Sequence[tuple[ListedTool, dict[str, Any]]], most: int
) -> Iterator[tuple[ListedTool, dict[str, Any]]]:
    for each in tools:
        most -= _size(each)
        if most < 0:
            return
        yield each


def _shares(wanted: Mapping[str, int], most: int) -> dict[str, int]:
    """Divide `most`: each server gets what it wants, or an equal share of what is left by those that want less."""
    shares: dict[str, int] = {}
    for name in sorted(wanted, key=lambda name: (wanted[name], name)):
        shares[name] = min(wanted[name], (most - sum(shares.values())) // (len(wanted) - len(shares)))
    return shares
