"""Lists of allowed tools, as people and Claude-shaped front ends write them (X-01)."""

import pytest

from coderelay.tools.builtin_tools import SPECS

pytestmark = pytest.mark.quick

TOOLS = [*(spec.name for spec in SPECS), "mcp__git__log"]
FREE = {"todo", "ask_user", "plan_exit"}


def allowed_by(*names: str) -> set[str]:
    return {tool for tool in TOOLS if SPECS.is_allowed(tool, names)}


def test_x01_an_empty_list_restricts_nothing() -> None:
    assert allowed_by() == set(TOOLS)


@pytest.mark.parametrize("names", [("Read",), ("nothing",), ("",)])
def test_x01_questions_todos_and_plans_are_never_restricted(names: tuple[str, ...]) -> None:
    assert allowed_by(*names) >= FREE


@pytest.mark.parametrize(
    ("name", "tools"),
    [
        ("Edit", {"edit", "patch", "write"}),
        ("MultiEdit", {"edit", "patch"}),
        ("Write", {"write"}),
        ("Read", {"read"}),
        ("Bash", {"bash", "bash_output", "bash_stop"}),
        ("BashOutput", {"bash_output"}),
        ("KillShell", {"bash_stop"}),
        ("LS", {"list"}),
        ("Glob", {"glob"}),
        ("Grep", {"grep"}),
        ("WebFetch", {"web_fetch"}),
        ("Task", {"task"}),
        ("Skill", {"skill"}),
        ("web_fetch", {"web_fetch"}),
        ("patch", {"patch"}),
        ("MCP__git__LOG", {"mcp__git__log"}),
        ("Bash(git:*)", set[str]()),  # a narrower rule of Claude's is not ours to widen
        ("Rea", set[str]()),
        ("mcp__git", {"mcp__git__log"}),
        ("mcp__git__*", {"mcp__git__log"}),
        ("mcp__gi", set[str]()),
    ],
)
def test_x01_the_alias_table(name: str, tools: set[str]) -> None:
    for written in (name, name.lower(), name.upper(), f" {name} "):
        assert allowed_by(written) == tools | FREE


def test_x01_several_names_add_up() -> None:
    assert allowed_by("read", "BASH") == {"read", "bash", "bash_output", "bash_stop"} | FREE


@pytest.mark.parametrize("tool", TOOLS)
def test_x01_the_name_a_tool_is_shown_under_allows_it(tool: str) -> None:
    assert tool in allowed_by(SPECS.external_name(tool))
