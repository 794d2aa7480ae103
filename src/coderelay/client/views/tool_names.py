"""Our tools under the names and arguments that Claude-shaped front ends know."""

from typing import Any

_FILE = {"path": "file_path"}
_NAMES: dict[str, tuple[str, dict[str, str]]] = {
    "read": ("Read", _FILE),
    "write": ("Write", _FILE),
    "edit": ("Edit", {**_FILE, "old": "old_string", "new": "new_string", "all": "replace_all"}),
    "bash": ("Bash", {"background": "run_in_background"}),
    "bash_output": ("BashOutput", {"id": "bash_id"}),
    "bash_stop": ("KillShell", {"id": "shell_id"}),
    "list": ("LS", {}),
    "glob": ("Glob", {}),
    "grep": ("Grep", {}),
    "todo": ("TodoWrite", {"items": "todos"}),
    "ask_user": ("AskUserQuestion", {}),
    "plan_exit": ("ExitPlanMode", {}),
    "web_fetch": ("WebFetch", {}),
    "skill": ("Skill", {}),
    "task": ("Task", {}),
}


def outside_name(tool: str) -> str:
    return _NAMES[tool][0] if tool in _NAMES else tool


def outside_input(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """A field the tool does not know never stands where one that it uses is shown."""
    renamed = _NAMES[tool][1] if tool in _NAMES else {}
    others = {name: value for name, value in arguments.items() if name not in renamed}
    return others | {renamed[name]: value for name, value in arguments.items() if name in renamed}
