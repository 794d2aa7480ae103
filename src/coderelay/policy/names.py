"""Tool names as people write them in lists of allowed tools, those of Claude-shaped front ends too."""

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
    return any(tool.lower() in _ALIASES.get(name, {name}) for name in names)
