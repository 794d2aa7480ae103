"""Our tools under the names and arguments that Claude-shaped front ends know."""

from typing import Any

from coderelay.protocol.errors import ToolFailed
from coderelay.tools.patch_format import Hunk, parse_patch

_FILE = {"path": "file_path"}
_NAMES: dict[str, tuple[str, dict[str, str]]] = {
    "read": ("Read", _FILE),
    "write": ("Write", _FILE),
    "edit": ("Edit", {**_FILE, "old": "old_string", "new": "new_string", "all": "replace_all"}),
    "patch": ("MultiEdit", {}),
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
    outside = others | {renamed[name]: value for name, value in arguments.items() if name in renamed}
    return outside | _edits(arguments.get("patch")) if tool == "patch" else outside


def _edits(patch: object) -> dict[str, Any]:
    """A patch beside the edits it stands for. One of these front ends knows one file only: it is shown the first."""
    try:
        files = parse_patch(patch) if isinstance(patch, str) else []
    except ToolFailed:
        files = []
    edits = [
        {"file_path": file.to or file.path, "old_string": "".join(hunk.old), "new_string": "".join(hunk.new)}
        for file in files
        for hunk in file.hunks or [Hunk()]
    ]
    return {"file_path": files[0].path if files else "", "edits": edits}
