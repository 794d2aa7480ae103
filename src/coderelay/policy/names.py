"""Tool names as people write them in rules and in lists of tools, those of Claude-shaped front ends too."""

_ALIASES = {
    "edit": {"edit", "patch", "write"},
    "multiedit": {"edit", "patch"},
    "write": {"write"},
    "read": {"read"},
    "bash": {"bash", "bash_output", "bash_stop"},
    "bashoutput": {"bash_output"},
    "killshell": {"bash_stop"},
    "ls": {"list"},
    "webfetch": {"web_fetch"},
}
_NEVER_RESTRICTED = {"ask_user", "todo", "plan_exit"}


def is_allowed(tool: str, allowed: tuple[str, ...]) -> bool:
    """Names compare without case or blanks around them. An empty list allows everything."""
    if not allowed or tool in _NEVER_RESTRICTED:
        return True
    names = [name.strip().lower() for name in allowed]
    return any(tool.lower() in tools_of(name) or _means_server(name, tool.lower()) for name in names)


def _means_server(name: str, tool: str) -> bool:
    """`mcp__server__*` and `mcp__server` stand for all tools of that server."""
    beginning = name[:-1] if name.endswith("__*") else f"{name}__" if name.count("__") == 1 else ""
    return beginning.startswith("mcp__") and tool.startswith(beginning)


def tools_of(name: str) -> set[str]:
    """The tools that a name in small letters stands for."""
    return _ALIASES.get(name, {name})
