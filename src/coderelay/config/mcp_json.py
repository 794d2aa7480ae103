"""Reads `.mcp.json`, in which other coding agents keep the MCP servers of a folder.

Its servers count like those of the folder's own file, so only in a folder that the person trusts. An entry that
cannot be used here is left out: the file belongs to other programs.
"""

import os
from typing import Any, cast

import msgspec

from coderelay.config.json_tree_checks import Tree, count_keys
from coderelay.config.read_config_bytes import read_beneath
from coderelay.config.settings import McpServerConfig, Name
from coderelay.protocol.errors import BadInput

MCP_FILE = ".mcp.json"
_DEEPEST = 32
_FIELDS = ("command", "args", "env", "url", "headers")
_TRANSPORTS = ("stdio", "http", "streamable-http", "streamableHttp")


def mcp_json_file(folder: str) -> str:
    return os.path.join(folder, MCP_FILE)


def mcp_json_servers(folder: str) -> Tree:
    """The settings of each server, by name, as our own file would have them."""
    try:
        content = read_beneath(folder, mcp_json_file(folder))
        written = None if content is None else msgspec.json.decode(content)
        count_keys(written, _DEEPEST)
    except (BadInput, ValueError, RecursionError):
        return {}
    listed = _dict(_dict(written).get("mcpServers"))
    return {name: entry for name, each in listed.items() if (entry := _usable(name, _dict(each))) is not None}


def _usable(name: str, entry: Tree) -> Tree | None:
    kind = entry.get("type", "stdio" if "command" in entry else "http")
    if kind not in _TRANSPORTS or entry.get("disabled") is True:
        return None
    own = {field: entry[field] for field in _FIELDS if field in entry}
    try:
        msgspec.convert({name: own}, dict[Name, McpServerConfig])
    except msgspec.ValidationError:
        return None
    return own


def _dict(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}
