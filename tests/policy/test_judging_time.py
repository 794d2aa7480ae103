"""No text and no layout of folders makes judging slow: the judge asks instead."""

import os
import time
from pathlib import Path

import pytest

from coderelay.host.shell_command_disk_facts import facts_about
from coderelay.policy.judge import Policy, judge
from coderelay.policy.shell.command_verdict import judge_command
from coderelay.protocol.calls import Need
from coderelay.tools.builtin_tools import SPECS
from tests.policy.rule_parsing import read_rules

pytestmark = pytest.mark.timeout(60)

RULES = read_rules(
    deny=("bash(git push)", "bash(./x.sh)", "read(**/a/**/a/**/b)", "network(evil.org)"), ask=("bash(rm -rf)",)
)
LONGEST = 9_990


def filled(text: str) -> str:
    return text * (LONGEST // len(text))


def judged(command: str, folder: str) -> str:
    facts = facts_about(command, (folder,), RULES, "/home/me")
    return judge_command(command, "default", (folder,), RULES, sandboxed=True, facts=facts).verdict


@pytest.mark.parametrize(
    "command",
    [
        filled("su su su su su su su x\n"), filled("sudo sudo sudo sudo sudo sudo x\n"), "watch " * 1000,
        "sh -c " + filled("a ")[:9000], "xargs " + filled("- ")[:9000], filled("eval "), filled("echo a | sh | "),
        filled("a")[:9000], "cat " + filled("a/")[:9000], "cat ." + filled("e*")[:9000],
        "sed '{b" + " " * 1980 + "w' x", "sed 'b" + " " * 1980 + "w;r' x", "a" * 200_000, filled("sh -c 'sh -c "),
        "time " * 1990 + "ls", "xargs " * 1600, "timeout 5 " * 990 + "ls", filled("'$(git ' "),
        "sh -c $'\\ud800'", "sh -c $'\\U99999999'", "find . " + filled("-exec ")[:9000],
    ],
    ids=lambda command: command[:16],
)  # fmt: skip
def test_judging_a_pathological_command_took_seconds(command: str, tmp_path: Path) -> None:
    """Each of these took between five seconds and for ever, or broke the judge."""
    begun = time.process_time()
    assert judged(command, str(tmp_path)) in ("ask", "deny")
    assert time.process_time() - begun < 5


@pytest.mark.parametrize("command", [filled(")>"), filled("=("), filled("${"), filled("<<E "), filled("}|")])
def test_a_text_of_errors_took_the_parser_minutes(command: str, tmp_path: Path) -> None:
    """It is quadratic, so that long texts are not given to it; and each text is parsed once."""
    begun = time.process_time()
    assert judged(command, str(tmp_path)) == "ask"
    assert time.process_time() - begun < 15


def test_links_to_the_same_folder_held_up_the_look_at_a_pattern(tmp_path: Path) -> None:
    for number in range(12):
        (tmp_path / f"l{number}").symlink_to(".")
    assert judged("cat */*/*/*/*/*/*/*/zz", str(tmp_path)) == "ask"


def test_a_long_chain_of_links_broke_the_judge(tmp_path: Path) -> None:
    for number in range(1500):
        (tmp_path / f"l{number}").symlink_to(f"l{number + 1}")
    assert judged("cat l0", str(tmp_path)) == "ask"
    assert judged("grep -R x .", str(tmp_path)) == "ask"
    assert not facts_about("grep -r x .", (str(tmp_path),), RULES, "/home/me").too_many


def test_a_pattern_for_very_many_names_hid_a_link_to_a_secret(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("KEY=1\n")
    for number in range(1200):
        (tmp_path / f"a{number}").touch()
    assert judged("cat *", str(tmp_path)) == "allow"
    (tmp_path / "zz").symlink_to(".env")
    assert judged("cat *", str(tmp_path)) == "ask"


def test_a_planted_index_of_git_is_asked_about(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    os.mkfifo(tmp_path / ".git" / "index")
    assert judged("git diff", str(tmp_path)) == "ask"
    assert judged("git status", str(tmp_path)) == "allow"


def test_a_workspace_called_like_a_folder_of_packages_is_looked_at(tmp_path: Path) -> None:
    folder = tmp_path / "node_modules" / "mine"
    folder.mkdir(parents=True)
    (folder / ".env").write_text("KEY=1\n")
    assert judged("grep -r KEY .", str(folder)) == "ask"


def test_the_judge_of_calls_survives_the_same_text() -> None:
    need = Need(tool="bash", kind="command", title="x", command="sh -c $'\\ud800'", sandbox="bubblewrap")
    assert judge([need], Policy("default", SPECS, folders=("/ws",)))[0].verdict == "ask"
