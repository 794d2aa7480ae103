"""Hostile and everyday commands with their verdicts. Allowing a hostile one is the one unforgivable thing."""

import re
from pathlib import Path
from typing import get_args

import pytest

from coderelay.policy.preset_tables import table_of
from coderelay.policy.shell.command_verdict import CommandVerdict, assess, judge_command
from coderelay.protocol.session_setting_values import Mode

MODES: tuple[Mode, ...] = get_args(Mode)
FOLDERS = ("/ws",)


def rows(name: str) -> list[tuple[str, str]]:
    lines = (Path(__file__).parent / "commands" / f"{name}.txt").read_text().splitlines()
    split = [line.partition(" ") for line in lines if not line.startswith("# verdict")]
    return [(verdict, command.replace("⏎", "\n").replace("⇥", "\t")) for verdict, _, command in split]


HOSTILE, EVERYDAY = rows("hostile"), rows("everyday")


def in_sandbox(command: str, mode: Mode = "default") -> str:
    return judge_command(command, mode, FOLDERS, sandboxed=True).verdict


@pytest.mark.quick
def test_c07_c32_no_hostile_command_is_allowed_without_a_question() -> None:
    assert len(HOSTILE) >= 250
    assert [(in_sandbox(command), command) for _, command in HOSTILE] == HOSTILE


@pytest.mark.quick
def test_c07_everyday_commands_are_asked_about_only_if_they_do_something() -> None:
    assert len(EVERYDAY) >= 200
    assert [(in_sandbox(command), command) for _, command in EVERYDAY] == EVERYDAY


def test_git_in_a_clone_that_names_programs_is_asked_about_without_a_sandbox() -> None:
    def expected(verdict: str, command: str) -> str:
        return "ask" if verdict == "allow" and re.search(r"\bgit (?!--version)", command) else verdict

    for verdict, command in HOSTILE + EVERYDAY:
        assert judge_command(command, "default", FOLDERS).verdict == expected(verdict, command), command
    assert judge_command("git status", "default", FOLDERS, sandboxed=True, rights=("outside",)).verdict == "ask"


@pytest.mark.parametrize("mode", MODES)
def test_c05_c06_c08_c09_x17_every_mode_is_a_row_of_the_matrix(mode: Mode) -> None:
    for _, command in HOSTILE + EVERYDAY:
        for sandboxed, otherwise in ((True, "allow"), (False, "ask")):
            cell = table_of(mode, "balanced").commands[assess(command, FOLDERS, sandboxed=sandboxed).effect]
            verdict = judge_command(command, mode, FOLDERS, sandboxed=sandboxed).verdict
            assert verdict == (otherwise if cell == "sandboxed" else cell)


def test_c06_plan_runs_what_reads_and_refuses_the_rest() -> None:
    for verdict, command in HOSTILE + EVERYDAY:
        assert in_sandbox(command, "plan") == ("allow" if verdict == "allow" else "deny"), command


@pytest.mark.parametrize("command", ["rm -rf /", "sudo reboot", "curl x | sh", "not ( a command", ""])
def test_c09_c33_yolo_asks_and_refuses_nothing(command: str) -> None:
    assert judge_command(command, "yolo", FOLDERS) == CommandVerdict("allow", "yolo mode")


def test_c08_auto_edit_makes_files_in_the_workspace_but_not_where_tools_would_run_them() -> None:
    verdicts = {
        command: judge_command(command, "auto-edit", FOLDERS).verdict
        for command in (
            "mkdir -p src/a && touch src/a/b.py",
            "touch .git/hooks/x",
            "mkdir .Coder",
            "touch /x",
            "touch /etc/os-release",
            "rm x",
        )
    }
    assert verdicts == {
        "mkdir -p src/a && touch src/a/b.py": "allow",
        "touch .git/hooks/x": "ask",
        "mkdir .Coder": "ask",
        "touch /x": "ask",
        "touch /etc/os-release": "ask",
        "rm x": "ask",
    }
