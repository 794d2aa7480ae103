"""Calls of tools as people see them: a short line with the core of it, then everything."""

import msgspec
import pytest

from coderelay.protocol.calls import (
    Call,
    CommandEnd,
    Denied,
    Failed,
    Finished,
    Kind,
    Need,
    Outcome,
    Question,
    Stopped,
    Unknown,
)
from coderelay.protocol.ids import CallId
from coderelay.surfaces.terminal.drawing.ansi_styles import without_colours
from coderelay.surfaces.terminal.drawing.calls import call_ended, call_line
from tests.terminal.drawing.colour_marks import marked

_DIFF = "--- a/app.py\n+++ b/app.py\n@@ -1,2 +1,2 @@\n import os\n-old\n+new\n"


def bash(command: str) -> Need:
    return Need(tool="bash", kind="command", title=command, command=command)


def a_call(tool: str, title: str, kind: Kind = "read") -> Need:
    return Need(tool=tool, kind=kind, title=title)


_ENDED_WELL = Finished("", "exit code 0, 0.0 s", end=CommandEnd(exit_code=0))


def shown(need: Need, outcome: Outcome, ms: int = 1234, width: int = 60) -> str:
    return without_colours(call_ended(need, outcome, ms, width))


@pytest.mark.quick
def test_c36_x19_a_command_with_its_result_its_time_and_all_that_it_printed() -> None:
    outcome = Finished(
        "\x1b[32mok\x1b[0m 12\x1b[2J passed\n\n❯ done", "exit code 0, 1.2 s", end=CommandEnd(exit_code=0)
    )
    assert marked(call_ended(bash("make test"), outcome, 1234, 60)) == (
        "\n⟨32⟩●⟨⟩ ⟨1⟩bash⟨⟩  make test  ⟨32⟩✓⟨⟩ ⟨2⟩1.2s · exit code 0⟨⟩\n"
        "⟨2⟩│ ⟨⟩⟨2⟩⟨32⟩ok⟨⟩⟨2⟩ 12 passed⟨⟩\n⟨2⟩│⟨⟩\n⟨2⟩│ ⟨⟩⟨2⟩❯ done⟨⟩\n"
    )


def test_c36_each_ending_has_a_sign_and_a_colour() -> None:
    endings: list[Outcome] = [
        Failed("exit code 2\nboom", end=CommandEnd(exit_code=2)),
        Denied("not today"),
        Stopped(started=True, output="half\n"),
        Unknown(),
    ]
    assert [marked(call_ended(bash("x"), each, 20, 70)) for each in endings] == [
        "\n⟨31⟩●⟨⟩ ⟨1⟩bash⟨⟩  x  ⟨31⟩✗⟨⟩ ⟨31⟩20ms · exit code 2⟨⟩\n⟨2⟩│ ⟨⟩⟨2⟩boom⟨⟩\n",
        "\n⟨33⟩●⟨⟩ ⟨1⟩bash⟨⟩  x  ⟨33⟩⊘⟨⟩ ⟨33⟩20ms · not allowed: not today⟨⟩\n",
        "\n⟨33⟩●⟨⟩ ⟨1⟩bash⟨⟩  x  ⟨33⟩■⟨⟩ ⟨33⟩20ms · stopped⟨⟩\n⟨2⟩│ ⟨⟩⟨2⟩half⟨⟩\n",
        "\n⟨35⟩●⟨⟩ ⟨1⟩bash⟨⟩  x  ⟨35⟩?⟨⟩ ⟨35⟩20ms · interrupted; it may have run⟨⟩\n",
    ]


def test_c15_the_exit_code_of_the_persons_own_command_is_no_error_in_red() -> None:
    ended = Finished("out", exit_code=3, errors="err")
    assert marked(call_ended(bash("x"), ended, 20, 70)) == (
        "\n⟨33⟩●⟨⟩ ⟨1⟩bash⟨⟩  x  ⟨33⟩✗⟨⟩ ⟨33⟩20ms · exit code 3⟨⟩\n⟨2⟩│ ⟨⟩⟨2⟩out⟨⟩\n⟨2⟩│ ⟨⟩⟨33⟩err⟨⟩\n"
    )


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("write", '{"path": "src/a.py", "content": "x\\ny"}', "src/a.py"),
        ("bash", '{"command": "make\\nmake test", "seconds": "x"}', "make …"),
        ("bash", '{"command": \n "make', '{"command": "make'),
        ("bash", '{"command": ["ls"]}', '{"command": ["ls"]}'),
        ("fly", '{"to": "\x1b[2J"}', '{"to": "\\x1b[2J"}'),
        ("fly", "", ""),
        ("fly", "[" * 9, "[" * 9),
    ],
)
def test_c36_a_call_that_cannot_run_says_what_it_was_about(tool: str, arguments: str, told: str) -> None:
    need = Need(tool=tool, kind="read", title=tool, problem="not so")
    shown = without_colours(call_ended(need, Failed("not so"), 0, 60, call=Call(CallId("c"), tool, arguments)))
    assert shown == f"\n● {tool}  {told}  ✗ not so\n".replace("    ", "  ")


def test_c36_of_a_call_that_cannot_run_long_arguments_are_one_line() -> None:
    need = Need(tool="fly", kind="read", title="fly", problem="not so")
    shown = without_colours(call_ended(need, Failed("not so"), 0, 40, call=Call(CallId("c"), "fly", "x " * 99)))
    assert shown == f"\n● fly  {('x ' * 11)}…  ✗ not so\n"


def test_a_command_called_as_its_tool_is_not_left_out() -> None:
    assert shown(bash("bash"), _ENDED_WELL, 4) == "\n● bash  bash  ✓ 4ms · exit code 0\n"


def test_c36_a_command_that_has_no_room_in_the_line_is_shown_whole_below_it() -> None:
    assert shown(bash("cat > a <<EOF\n\x1b[2Jtext\nEOF"), _ENDED_WELL, 4) == (
        "\n● bash  cat > a <<EOF …  ✓ 4ms · exit code 0\n│ $ cat > a <<EOF\n│   \\x1b[2Jtext\n│   EOF\n"
    )
    assert shown(bash("echo " + "a" * 40), _ENDED_WELL, 4, 40) == (
        "\n● bash  echo aaaaaaaaaa…  ✓ 4ms · exit code 0\n"
        f"│ $ echo {'a' * 31}\n│   {'a' * 9}\n"
    )  # fmt: skip


def test_c36_a_change_with_its_diff() -> None:
    need = Need(tool="edit", kind="edit", title="app.py", diff=_DIFF)
    assert shown(need, Finished("edited app.py (+1 -1)", "+1 -1"), 5) == (
        "\n● edit  app.py  ✓ 5ms · +1 -1\n│ app.py  +1 −1\n│ 1   import os\n│ 2 - old\n│ 2 + new\n"
    )
    failed = "old is not in app.py; the nearest lines are:\n1\timport os"
    assert shown(need, Failed(failed), 5, 50) == (
        "\n● edit  app.py  ✗ 5ms\n│ old is not in app.py; the nearest lines are:\n│ 1       import os\n"
    )


@pytest.mark.parametrize(
    ("need", "outcome", "expected"),
    [
        (a_call("read", "a.py"), Finished("1\tx", "1 line"), "● read  a.py  ✓ 1.2s · 1 line\n"),
        (a_call("skill", "deploy"), Finished("Do it so.", "loaded"), "● skill  deploy  ✓ 1.2s · loaded\n"),
        (a_call("list", "."), Finished("src/\na", "2 entries"), "● list  .  ✓ 1.2s · 2 entries\n│ src/\n│ a\n"),
        (a_call("glob", "**/*.py"), Finished("a.py", "1 file"), "● glob  **/*.py  ✓ 1.2s · 1 file\n│ a.py\n"),
        (
            a_call("grep", "def f"),
            Finished("a.py:1:def f", "1 match in 1 file"),
            "● grep  def f  ✓ 1.2s · 1 match in 1 file\n│ a.py:1:def f\n",
        ),
        (
            a_call("web_fetch", "https://x.example/", "network"),
            Finished("https://x.example/\n\n# X", "3 characters"),
            "● web_fetch  https://x.example/  ✓ 1.2s · 3 characters\n│ https://x.example/\n│\n│ # X\n",
        ),
        (
            a_call("task", "look around"),
            Finished("**Found** it:\n\n- here", "3 steps"),
            "● task  look around  ✓ 1.2s · 3 steps\n│ Found it:\n│\n│ • here\n",
        ),
        (
            Need(tool="ask_user", kind="ask", title="Which?", questions=(Question("Which?"),)),
            Finished("Which?\n→ red", "red"),
            "● ask_user  Which?  ✓ 1.2s · red\n│ Which?\n│ → red\n",
        ),
        (
            Need(tool="plan_exit", kind="ask", title="# Plan", plan="# Plan\n\n1. do\n2. that"),
            Finished("The plan is approved", "approved"),
            "● plan_exit  # Plan  ✓ 1.2s · approved\n│ Plan\n│\n│ 1. do\n│ 2. that\n",
        ),
        (
            a_call("mcp__gh__find", 'gh: find {"q":"x"}', "mcp"),
            Finished("found\ttwo", "1 line"),
            '● gh: find  {"q":"x"}  ✓ 1.2s · 1 line\n│ found   two\n',
        ),
        (
            a_call("bash_output", "1"),
            Finished("It runs.\nup", "it runs"),
            "● bash_output  1  ✓ 1.2s · it runs\n│ It runs.\n│ up\n",
        ),
        (
            a_call("read", "a.py"),
            Finished("x", "1 line", feedback="not so\nfast"),
            "● read  a.py  ✓ 1.2s · 1 line\n│ hook: not so\n│ fast\n",
        ),
    ],
)  # fmt: skip
def test_c36_every_tool(need: Need, outcome: Outcome, expected: str) -> None:
    assert shown(need, outcome) == f"\n{expected}"


def test_c14_todos_appear_in_the_flow() -> None:
    items = [
        {"content": "read\nit", "status": "completed"},
        {"content": "write", "status": "in_progress"},
        {"content": "a long one that needs two lines of it", "status": "pending"},
    ]
    call = Call(CallId("c"), "todo", msgspec.json.encode({"items": items}).decode())
    need, told = a_call("todo", "1 of 3 done, now: write"), "1 of 3 done, now: write"
    assert marked(call_ended(need, Finished("The list is kept.", told), 0, 36, call=call)) == (
        "\n⟨32⟩●⟨⟩ ⟨1⟩todo⟨⟩  1 of 3 done, now: write  ⟨32⟩✓⟨⟩\n"
        "  ☑ ⟨2;9⟩read it⟨⟩\n  ◐ ⟨1⟩write⟨⟩\n  ☐ a long one that needs two lines\n    of it\n"
    )


def test_what_was_asked_about_here_is_not_shown_twice() -> None:
    need = Need(tool="edit", kind="edit", title="app.py", diff=_DIFF)
    assert (
        without_colours(call_ended(need, Finished("", "+1 -1"), 5, 60, asked=True))
        == "\n● edit  app.py  ✓ 5ms · +1 -1\n"
    )
    command = bash("one\ntwo")
    assert without_colours(
        call_ended(command, Finished("out", "exit code 0, 0 s", end=CommandEnd(exit_code=0)), 5, 60, asked=True)
    ) == ("\n● bash  one …  ✓ 5ms · exit code 0\n│ out\n")


@pytest.mark.parametrize(
    ("ms", "told"), [(0, ""), (999, " 999ms"), (59_900, " 59.9s"), (61_000, " 1m 01s"), (7_260_000, " 2h 01m")]
)
def test_c36_the_duration(ms: int, told: str) -> None:
    assert (
        shown(a_call("read", "a"), Finished("", "1 line"), ms)
        == f"\n● read  a  ✓{told}{' ·' if told else ''} 1 line\n"
    )


def test_c36_a_call_that_starts_is_one_short_line() -> None:
    assert without_colours(call_line(bash("make test\nmore"), 40)) == "● bash  make test …\n"
    assert without_colours(call_line(bash("\u202e" + "x" * 99), 30)) == "● bash  \\u202exxxxxxxxxxxxxxx…\n"
