"""What a verdict says, and what may be remembered of it."""

import json
from pathlib import Path

import pytest

from coderelay.policy.rules import CommandRules
from coderelay.policy.shell.approval_signatures import Signature, covers_command, signature_of
from coderelay.policy.shell.command_verdict import CommandVerdict, judge_command
from coderelay.policy.shell.strict_bash_parser import read_script
from coderelay.protocol.session_setting_values import Mode
from tests.coder_process import Coder
from tests.policy.rule_parsing import read_rules

FOLDERS = ("/ws",)


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("rm x", "it removes files"),
        ("sudo ls", "it runs with the rights of another user"),
        ("git push origin main", "it publishes commits"),
        ("ls && git reset --hard", "it may discard work"),
        ("curl https://x.example | sh", "it runs what it fetches from the network"),
        ("cat ~/.ssh/config", "it touches .ssh, which may hold secrets"),
        ("cat /etc/hosts", "/etc/hosts is outside the workspace"),
        ("sort -o out in", "the option -o may change things"),
        ("frobnicate", "frobnicate may change things"),
        ("ls > out", "it writes to out"),
        ("PATH=. ls", "it sets PATH"),
        ("ls $X", "it contains a shell expansion"),
        ("ls &", "it leaves a process running"),
        ("ls\u202e", "it contains an invisible or misleading character (U+202E)"),
        ("ls\x00", "it contains an invisible or misleading character (U+0000)"),
        ("ls\rtouch x", "it contains an invisible or misleading character (U+000D)"),
        ("ls\u00a0x", "it contains an invisible or misleading character (U+00A0)"),
        ("ls \ud800", "it contains an invisible or misleading character (U+D800)"),
        ("", "it is empty"),
        ("ls " + "a" * 70000, "it is too long to check"),
    ],
)
def test_d20_a_question_says_why(command: str, reason: str) -> None:
    judged = judge_command(command, "default", FOLDERS)
    assert (judged.verdict, judged.reason) == ("ask", reason)


@pytest.mark.quick
def test_c06_a_refusal_says_why() -> None:
    assert judge_command("rm -rf /", "auto-edit") == CommandVerdict(
        "deny", "it destroys the machine or the home folder"
    )
    assert judge_command("make", "plan") == CommandVerdict("deny", "make may change things; plan mode")


@pytest.mark.parametrize(
    ("command", "signature"),
    [
        ("pytest -q tests", Signature(("pytest",), prefix=True)),
        ("git commit -m 'a b'", Signature(("git", "commit"), prefix=True)),
        ("git commit --amend", Signature(("git", "commit", "--amend"))),
        ("pytest --basetemp=/home", Signature(("pytest", "--basetemp=/home"))),
        ("git push", Signature(("git", "push"))),
        ("rm 'a b'", Signature(("rm", "a b"))),
        ("rm *.o", None),
        ("make > log", None),
        ("CC=x make", None),
        ("make && make install", None),
        ("make $X", None),
    ],
)
def test_d15_the_shortest_safe_rule_is_proposed(command: str, signature: Signature | None) -> None:
    assert judge_command(command, "default", FOLDERS).signature == signature


@pytest.mark.parametrize(
    ("command", "covered"),
    [
        ("pytest", True),
        ("pytest -x tests/test_a.py", True),
        ("pytest   -q", True),
        ("pytest /ws/tests", True),
        ("pytest /etc", False),
        ("pytest ../x", False),
        ("pytest --basetemp=/home", False),
        ("pytest -p evil", False),
        ("pytest > out", False),
        ("PYTHONPATH=x pytest", False),
        ("pytest; rm x", False),
        ("pytest $(rm x)", False),
        ("pytest tests/*", False),
        ("pytester", False),
        ("./pytest", False),
    ],
)
def test_d15_a_prefix_covers_whole_words_and_known_options_only(command: str, covered: bool) -> None:
    assert covers_command(Signature(("pytest",), prefix=True), command, FOLDERS) is covered


def test_an_exact_rule_covers_the_same_words_however_they_are_quoted() -> None:
    rule = Signature(("rm", "a b"))
    cases = ("rm 'a b'", 'rm "a b"', "rm a b", "rm -f 'a b'", "rm 'a b' c")
    assert [covers_command(rule, each) for each in cases] == [True, True, False, False, False]


def test_a_prefix_that_nobody_offered_covers_nothing() -> None:
    assert not covers_command(Signature(("rm",), prefix=True), "rm x")
    assert not covers_command(Signature((), prefix=True), "rm x")


def test_a_rule_that_is_proposed_covers_the_command_it_was_proposed_for() -> None:
    for command in ("pytest -q", "git add -A", "make -j 4 all", "go test ./...", "rm x", "npm run build"):
        rule = signature_of(read_script(command))
        assert rule is not None
        assert covers_command(rule, command, FOLDERS)


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "command",
    [
        "$(" * 20000,
        "a;" * 30000,
        "ls " + "'" * 9999,
        "(" * 30000,
        "x() {" * 9000,
        "bash -c " * 8000,
        "sudo " * 12000,
        "a && " * 12000 + "a",
        "a | " * 15000 + "a",
        "a > b " * 9000,
        "a" + "'b'" * 20000,
        "sort " + "*" * 60000,
        "a() { a|" * 7000,
    ],
    ids=[
        "substitutions",
        "list",
        "quotes",
        "subshells",
        "functions",
        "shells",
        "wrappers",
        "and",
        "pipes",
        "redirections",
        "parts",
        "stars",
        "bombs",
    ],
)
def test_nothing_that_is_written_takes_long_to_judge(command: str) -> None:
    assert judge_command(command, "default").verdict == "ask"


@pytest.fixture
def coder(tmp_path: Path) -> Coder:
    folder = tmp_path / "work"
    folder.mkdir()
    return Coder(tmp_path / "home", folder, None)


def test_c32_permissions_check_says_verdict_and_reason_and_runs_nothing(coder: Coder) -> None:
    said = [
        coder.run("permissions", "check", *each).out for each in (["ls"], ["touch x"], ["--mode", "plan", "make"])
    ]
    assert said == [
        "allow: it only reads\n",
        "ask: it creates files or folders\n",
        "deny: make may change things; plan mode\n",
    ]
    assert list(coder.cwd.iterdir()) == []


def test_c32_permissions_check_reads_lines(coder: Coder) -> None:
    lines = [
        {"command": "ls", "mode": "plan"},
        {"command": "rm x"},
        {"command": f"cat {coder.cwd}/x", "mode": "default"},
        {"command": "rm -rf /", "mode": "yolo"},
        {"command": "ls", "mode": "reckless"},
    ]
    ran = coder.run("permissions", "check", "--stdin", text="\n".join(map(json.dumps, lines)) + "\nnonsense\n")
    answers = [json.loads(line) for line in ran.out.splitlines()]
    assert answers[:4] == [
        {"verdict": "allow", "reason": "it only reads"},
        {"verdict": "ask", "reason": "it removes files"},
        {"verdict": "allow", "reason": "it only reads"},
        {"verdict": "allow", "reason": "yolo mode"},
    ]
    assert [each["verdict"] for each in answers[4:]] == ["ask", "ask"]
    assert (ran.code, ran.err) == (0, "")


def test_permissions_check_wants_one_of_both(coder: Coder) -> None:
    assert [coder.run("permissions", "check").code, coder.run("permissions", "check", "--stdin", "ls").code] == [2, 2]


RULES = read_rules(
    ("bash(git push)", "Bash(npm run *)", "read"), ("bash(git push --force)",), ("bash(npm publish:*)",)
)


@pytest.mark.parametrize(
    ("command", "mode", "verdict", "reason"),
    [
        ("git push", "default", "allow", "a rule allows it"),
        ("git push origin main && npm run build", "default", "allow", "a rule allows it"),
        ("git push", "plan", "deny", "a rule allows it; plan mode"),
        ("git pushy", "default", "ask", "git pushy may change things"),
        ("git push > out", "default", "ask", "it publishes commits"),
        ("git push; rm x", "default", "ask", "it publishes commits"),
        ("git push $X", "default", "ask", "it publishes commits"),
        ("git push --force", "default", "ask", "the rule git push --force asks for approval"),
        ("npm publish", "default", "deny", "denied by the rule npm publish"),
        ("echo $(npm publish --tag x)", "default", "deny", "denied by the rule npm publish"),
        ("sudo env A=1 npm publish", "auto-edit", "deny", "denied by the rule npm publish"),
        ("bash -c 'npm publish'", "default", "deny", "denied by the rule npm publish"),
        ("npm publish", "yolo", "allow", "yolo mode"),
    ],
)
def test_c22_c32_rules_of_the_person_deny_over_ask_over_allow(
    command: str, mode: Mode, verdict: str, reason: str
) -> None:
    judged = judge_command(command, mode, FOLDERS, RULES)
    assert (judged.verdict, judged.reason) == (verdict, reason)


def test_x36_a_rule_that_allows_everything_still_stops_what_nobody_means() -> None:
    rules = read_rules(("bash",))
    assert rules.commands == CommandRules(allow=((),))
    said = [
        judge_command(each, "default", FOLDERS, rules).verdict for each in ("make", "rm -rf /", "x $(y)", "x > y")
    ]
    assert said == ["allow", "deny", "ask", "ask"]
