"""The names of MCP tools: `mcp__server__tool`, in the characters that all providers accept."""

import re
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from itertools import count

_MOST = 64
_MARK = 8
_ODD = re.compile(r"[^A-Za-z0-9_-]+")


def tool_names(tools: Sequence[tuple[str, str]]) -> list[str]:
    """The names for pairs of server and tool. Names that are too long, equal, or different in case alone (which rules
    ignore) get a suffix that depends on nothing but the pair; or another suffix if somebody made up that one."""
    names = [plain_name(server, tool) for server, tool in tools]
    for times in count():
        taken = Counter(name.lower() for name in names)
        again = [taken[name.lower()] > 1 or len(name) > _MOST for name in names]
        if not any(again):
            break
        names = [
            _marked(plain_name(*pair), pair, times) if marked else name
            for name, pair, marked in zip(names, tools, again, strict=True)
        ]
    return names


def plain_name(server: str, tool: str) -> str:
    """The name without a suffix. Two underscores end the name of the server, so that a rule for one server never
    means another."""
    short = re.sub("_+", "_", _ODD.sub("_", server)).strip("_") or "server"
    return f"mcp__{short}__{_ODD.sub('_', tool) or 'tool'}"


def _marked(name: str, pair: tuple[str, str], times: int) -> str:
    mark = sha256("\0".join([*pair, *["again"] * times]).encode(errors="replace")).hexdigest()[:_MARK]
    return f"{name[: _MOST - _MARK - 1]}_{mark}"
