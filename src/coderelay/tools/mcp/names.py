"""What the tools of servers are called: `mcp__server__tool`, in the letters that all providers take."""

import re
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256

_MOST = 64
_MARK = 8
_ODD = re.compile(r"[^A-Za-z0-9_-]+")


def tool_names(tools: Sequence[tuple[str, str]]) -> list[str]:
    """For pairs of server and tool. Those that would be called the same, or differ in case alone as rules do not, are
    told apart by a mark that depends on nothing but the pair."""
    plain = [_plain(server, tool) for server, tool in tools]
    times = Counter(name.lower() for name in plain)
    return [
        _marked(name, *pair) if times[name.lower()] > 1 or len(name) > _MOST else name
        for name, pair in zip(plain, tools, strict=True)
    ]


def _plain(server: str, tool: str) -> str:
    """Two lines in a row end the name of the server, so that a rule for one never means another."""
    short = re.sub("_+", "_", _ODD.sub("_", server)).strip("_") or "server"
    return f"mcp__{short}__{_ODD.sub('_', tool) or 'tool'}"


def _marked(name: str, server: str, tool: str) -> str:
    mark = sha256(f"{server}\0{tool}".encode(errors="replace")).hexdigest()[:_MARK]
    return f"{name[: _MOST - _MARK - 1]}_{mark}"
