"""Our tools as Claude-shaped front ends know them."""

from typing import Any

import pytest

from coderelay.client.views.tool_names import outside_input, outside_name

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    ("tool", "name", "arguments", "outside"),
    [
        ("read", "Read", {"path": "a", "limit": 2}, {"file_path": "a", "limit": 2}),
        ("write", "Write", {"path": "a", "content": "x"}, {"file_path": "a", "content": "x"}),
        (
            "edit",
            "Edit",
            {"path": "a", "old": "x", "new": "y", "all": True},
            {"file_path": "a", "old_string": "x", "new_string": "y", "replace_all": True},
        ),
        ("bash", "Bash", {"command": "ls", "background": True}, {"command": "ls", "run_in_background": True}),
        ("bash_output", "BashOutput", {"id": "1"}, {"bash_id": "1"}),
        ("bash_stop", "KillShell", {"id": "1"}, {"shell_id": "1"}),
        ("list", "LS", {"path": "."}, {"path": "."}),
        ("todo", "TodoWrite", {"items": []}, {"todos": []}),
        ("ask_user", "AskUserQuestion", {"questions": []}, {"questions": []}),
        ("plan_exit", "ExitPlanMode", {"plan": "p"}, {"plan": "p"}),
        ("mcp__git__log", "mcp__git__log", {"path": "a"}, {"path": "a"}),
    ],
)
def test_names_and_arguments_outside(
    tool: str, name: str, arguments: dict[str, Any], outside: dict[str, Any]
) -> None:
    assert (outside_name(tool), outside_input(tool, arguments)) == (name, outside)


@pytest.mark.parametrize(
    "arguments",
    [
        {"path": "/etc/passwd", "file_path": "README.md"},
        {"file_path": "README.md", "path": "/etc/passwd"},
    ],
)
def test_what_is_shown_is_what_the_tool_would_use(arguments: dict[str, Any]) -> None:
    """Symptom: a model could have a harmless path shown, and approved, next to the one that is read."""
    assert outside_input("read", arguments) == {"file_path": "/etc/passwd"}
