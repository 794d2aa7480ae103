"""What two lists of allowed tools have in common."""

from coderelay.client.tool_specs import tool_specs


def tools_in_both(own: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    """The tools that both lists allow. An empty list would allow every tool; so if nothing is left, the result is
    `todo`, which is never forbidden."""
    if own == other or not other:
        return own
    if not own:
        return other
    is_allowed = tool_specs().is_allowed
    both = [each for each in _tools(own) if is_allowed(each, other)]
    both += [each for each in _tools(other) if is_allowed(each, own)]
    return tuple(dict.fromkeys(both)) or ("todo",)


def _tools(allowed: tuple[str, ...]) -> list[str]:
    return [tool for name in allowed for tool in sorted(tool_specs().covered_by(name.strip().lower()))]
