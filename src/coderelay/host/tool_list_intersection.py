"""The intersection of two lists of allowed tools."""

from coderelay.client.builtin_tool_specs_loader import tool_specs
from coderelay.protocol.query_results import TODO
from coderelay.protocol.tool_specs import listed_tools


def tools_in_both(own: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    """The tools that both lists allow. An empty list would allow every tool; so if nothing is left, the result is
    `todo`, which is never forbidden."""
    if own == other or not other:
        return own
    if not own:
        return other
    (mine, refused), (theirs, also_refused) = listed_tools(own), listed_tools(other)
    both = _common(mine, theirs) if mine and theirs else mine or theirs
    return (*both, *dict.fromkeys(f"-{name}" for name in (*refused, *also_refused)))


def _common(own: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    is_allowed = tool_specs().is_allowed
    both = [each for each in _tools(own) if is_allowed(each, other)]
    both += [each for each in _tools(other) if is_allowed(each, own)]
    return tuple(dict.fromkeys(both)) or (TODO,)


def _tools(listed: tuple[str, ...]) -> list[str]:
    return [tool for name in listed for tool in sorted(tool_specs().covered_by(name))]
