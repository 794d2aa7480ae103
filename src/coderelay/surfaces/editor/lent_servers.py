"""The MCP servers that a client sends with a session."""

import re
from collections.abc import Iterable
from typing import Any, cast
from urllib.parse import urlsplit

from coderelay.acp.update_payloads import Fields
from coderelay.client.lent_resource_types import LentServer

_NAME_CHARS = 40


def lent_servers(given: Iterable[Fields]) -> tuple[dict[str, LentServer], list[str]]:
    """The servers that can be used, by name, and the names of the others."""
    found: dict[str, LentServer] = {}
    unusable: list[str] = []
    for each in given:
        name = re.sub("[^A-Za-z0-9_-]", "_", str(each.get("name") or ""))[:_NAME_CHARS]
        server = _server(each)
        if server is None or not name or name in found:
            unusable.append(name or "?")
        else:
            found[name] = server
    return found, unusable


def _server(given: Fields) -> LentServer | None:
    """A program, or an address that speaks HTTP; None for anything else, such as the older SSE."""
    kind: object = given.get("type") or ("http" if "url" in given or "httpUrl" in given else "stdio")
    command: object = given.get("command")
    url: object = given.get("httpUrl") or given.get("url")
    match kind:
        case "stdio" if isinstance(command, str) and command:
            args: object = given.get("args") or []
            words = tuple(map(str, cast("list[Any]", args))) if isinstance(args, list) else ()
            return LentServer(command=command, args=words, env=_pairs(given.get("env")))
        case "http" | "streamable-http" if isinstance(url, str) and _is_address(url):
            return LentServer(url=url, headers=_pairs(given.get("headers")))
        case _:
            return None


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _pairs(given: object) -> dict[str, str]:
    """ACP has a list of names and values, and clients made for iFlow have a map too."""
    if isinstance(given, dict):
        return {str(name): str(value) for name, value in cast("Fields", given).items()}
    listed = cast("list[Any]", given) if isinstance(given, list) else []
    both = [cast("Fields", each) for each in listed if isinstance(each, dict)]
    return {str(each.get("name", "")): str(each.get("value", "")) for each in both}
