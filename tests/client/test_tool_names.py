"""Our tools as Claude-shaped front ends know them."""

from typing import Any

import pytest

from coderelay.tools.builtin_tools import SPECS

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
        ("glob", "Glob", {"pattern": "*", "path": "."}, {"pattern": "*", "path": "."}),
        ("grep", "Grep", {"pattern": "x", "glob": "*"}, {"pattern": "x", "glob": "*"}),
        ("todo", "TodoWrite", {"items": []}, {"todos": []}),
        ("ask_user", "AskUserQuestion", {"questions": []}, {"questions": []}),
        ("plan_exit", "ExitPlanMode", {"plan": "p"}, {"plan": "p"}),
        ("mcp__git__log", "mcp__git__log", {"path": "a"}, {"path": "a"}),
    ],
)
def test_names_and_arguments_outside(
    tool: str, name: str, arguments: dict[str, Any], outside: dict[str, Any]
) -> None:
    assert (SPECS.external_name(tool), SPECS.external_input(tool, arguments)) == (name, outside)


def test_a_patch_is_shown_as_the_edits_it_stands_for() -> None:
    patch = "*** Begin Patch\n*** Update File: a\n x\n-1\n+2\n*** Delete File: b\n*** End Patch"
    assert SPECS.external_name("patch") == "MultiEdit"
    assert SPECS.external_input("patch", {"patch": patch, "file_path": "README.md"}) == {
        "file_path": "a",
        "patch": patch,
        "edits": [
            {"file_path": "a", "old_string": "x\n1\n", "new_string": "x\n2\n"},
            {"file_path": "b", "old_string": "", "new_string": ""},
        ],
    }
    assert SPECS.external_input("patch", {"patch": "no"}) == {"patch": "no", "file_path": "", "edits": []}


@pytest.mark.parametrize(
    "arguments",
    [
        {"path": "/etc/passwd", "file_path": "README.md"},
        {"file_path": "README.md", "path": "/etc/passwd"},
    ],
)
def test_what_is_shown_is_what_the_tool_would_use(arguments: dict[str, Any]) -> None:
    """Symptom: a model could have a harmless path shown, and approved, next to the one that is read."""
    assert SPECS.external_input("read", arguments) == {"file_path": "/etc/passwd"}
