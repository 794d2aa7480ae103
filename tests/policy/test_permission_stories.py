"""Stories about permissions with a real `coder`: what modes, presets, rules and approvals let run unasked."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.coder_process import Coder
from tests.conftest import Serve
from tests.log_checker import read_logs
from tests.model_server import (
    Answer,
    History,
    ModelServerThread,
    bash,
    by_history,
    call,
    proposes,
    says,
    write,
)
from tests.plain_terminal import terminal

CoderOn = Callable[[ModelServerThread], Coder]
ALLOW = "s(top) > "


def all_kinds(history: History) -> Answer:
    """A command that reads, one that does not, a file; then what became of them."""
    results = [said.text for said in history if said.role == "tool"]
    if results:
        return says(" | ".join("no" if "Not allowed" in text else "yes" for text in results))
    return proposes(bash("ls"), bash("echo hi > made"), write("written", "x"))


def commands(*texts: str) -> Callable[[History], Answer]:
    """All of them in one message, for every prompt."""

    def answer(history: History) -> Answer:
        prompt = max(place for place, said in enumerate(history) if said.role == "user")
        results = [said.text for said in history[prompt:] if said.role == "tool"]
        if results:
            return says(" | ".join("no" if "Not allowed" in text else "yes" for text in results))
        return proposes(*map(bash, texts))

    return answer


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("[!.]*"))


@pytest.fixture
def coder(serve: Serve, coder_on: CoderOn) -> Coder:
    return coder_on(serve(by_history(all_kinds)))


def configure(coder: Coder, **keys: Any) -> None:
    coder.home.mkdir(exist_ok=True)
    (coder.home / "config.json").write_text(json.dumps(keys))


@pytest.mark.parametrize(
    ("mode", "told", "code", "made"),
    [
        ("plan", "yes | no | no", 0, []),
        ("default", "yes | no | no", 3, []),
        ("auto-edit", "yes | no | yes", 3, ["written"]),
        ("yolo", "yes | yes | yes", 0, ["made", "written"]),
    ],
)
def test_c05_c06_c07_c08_c09_what_each_mode_does_unasked(
    coder: Coder, folder: Path, mode: str, told: str, code: int, made: list[str]
) -> None:
    ran = coder.run("-p", "go", "--mode", mode)
    assert (ran.out, ran.code, files(folder)) == (f"{told}\n", code, made)


def test_c09_c10_c33_yolo_runs_even_what_a_rule_denies(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    coder = coder_on(serve(by_history(commands("echo a > made", "rm made"))))
    configure(coder, **{"permissions.deny": ["bash"]})
    assert coder.run("-p", "go", "--mode", "yolo").out == "yes | yes\n"
    assert coder.run("-p", "go", "--mode", "auto-edit").out == "no | no\n"
    assert files(folder) == []


def test_c10_yolo_keeps_file_tools_in_the_workspace(serve: Serve, coder_on: CoderOn, tmp_path: Path) -> None:
    def outside(history: History) -> Answer:
        results = [said.text for said in history if said.role == "tool"]
        return says(results[-1]) if results else proposes(write(str(tmp_path / "out"), "x"))

    ran = coder_on(serve(by_history(outside))).run("-p", "go", "--mode", "yolo")
    assert "is outside the workspace" in ran.out
    assert not (tmp_path / "out").exists()


def test_d20_a_batch_with_one_dangerous_command_pauses_whole(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    (folder / "x").write_text("")
    coder = coder_on(serve(by_history(commands("ls", "rm x", "pwd"))))
    parked = coder.run("-p", "go", "--unattended", "park")
    assert parked.code == 5
    (log,) = read_logs(coder.home / "sessions.db").values()
    assert [event["kind"] for event in log if event["kind"].startswith("call.")] == []
    (row,) = [json.loads(line) for line in coder.run("asks", "--json").out.splitlines()]
    assert (row["ask"]["need"]["command"], row["ask"]["reason"]) == ("rm x", "it removes files")
    done = coder.run("answer", row["ask"]["id"], "allow")
    assert (done.out.splitlines()[-1], files(folder)) == ("yes | yes | yes", [])


def test_c32_what_nobody_means_is_refused_and_never_asked(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(by_history(commands("rm -rf ~", "ls"))))
    ran = coder.run("-p", "go", "--unattended", "allow")
    assert (ran.out, ran.code) == ("no | yes\n", 0)


@pytest.mark.parametrize(
    ("keys", "told", "code"),
    [
        ({"permissions.allow": ["bash(echo)", "write(written)"]}, "yes | no | yes", 3),
        ({"permissions.deny": ["bash(ls)"]}, "no | no | no", 3),
        ({"permissions.preset": "strict"}, "no | no | no", 3),
        ({"permissions.preset": "auto-edit"}, "yes | no | yes", 3),
        ({"approval.unattended": "allow"}, "yes | yes | yes", 0),
        ({"auto_approve_ask": True}, "yes | yes | yes", 0),
        ({"approval.unattended": "allow", "permissions.deny": ["edit"]}, "yes | yes | no", 0),
    ],
)
def test_c22_c32_c35_x04_rules_and_presets_of_the_person(
    coder: Coder, keys: dict[str, Any], told: str, code: int
) -> None:
    configure(coder, **keys)
    ran = coder.run("-p", "go")
    assert (ran.out, ran.code) == (f"{told}\n", code)


LOOSER: list[dict[str, Any]] = [
    {"permissions.allow": ["edit", "bash"]},
    {"permissions.preset": "yolo"},
    {"auto_approve_ask": True},
    {"approval.interactive": False},
    {"approval.unattended": "allow"},
]


@pytest.mark.parametrize("keys", LOOSER, ids=lambda keys: next(iter(keys)))
def test_x04_x36_a_folder_loosens_nothing_until_it_is_trusted(
    coder: Coder, folder: Path, keys: dict[str, Any]
) -> None:
    (folder / ".coder").mkdir()
    (folder / ".coder" / "config.json").write_text(json.dumps(keys))
    before = coder.run("-p", "go")
    assert (before.out, before.code, files(folder)) == ("yes | no | no\n", 3, [])
    assert coder.run("permissions", "trust", "--yes").code == 0
    after = coder.run("-p", "go")
    assert after.out.endswith("yes\n")
    assert "written" in files(folder)


@pytest.mark.parametrize("keys", [{"permissions.deny": ["bash"]}, {"permissions.preset": "strict"}])
def test_x36_a_folder_tightens_at_once(coder: Coder, folder: Path, keys: dict[str, Any]) -> None:
    (folder / ".coder").mkdir()
    (folder / ".coder" / "config.json").write_text(json.dumps(keys))
    assert coder.run("-p", "go").out == "no | no | no\n"


def test_an_odd_rule_stops_coder_and_says_where_it_is(coder: Coder, folder: Path) -> None:
    configure(coder, **{"permissions.deny": ["bash(ls)", "shell(ls)"]})
    ran = coder.run("-p", "go")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.startswith(
        f"coder: {coder.home / 'config.json'}: permissions.deny[1] must be a rule like bash(git "
    )
    assert ran.err.endswith(', not "shell(ls)": shell takes nothing in brackets\n')


def test_c32_check_uses_the_rules_and_the_preset_that_count_here(coder: Coder) -> None:
    keys = {
        "permissions.preset": "strict",
        "permissions.allow": ["bash(make)"],
        "permissions.deny": ["bash(git push)"],
    }
    configure(coder, **keys)
    asked = ("ls", "make", "git push", "CODER_SANDBOX=0 make")
    assert [coder.run("permissions", "check", each).out for each in asked] == [
        "ask: it only reads; strict preset\n",
        "allow: a rule allows it\n",
        "deny: denied by the rule git push\n",
        "ask: it asks to run outside the sandbox; a rule allows it\n",
    ]


def test_c22_the_matrix_is_shown_and_a_preset_changes_it(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(by_history(commands("ls"))))
    configure(coder, **{"permissions.deny": ["bash(git push)"], "permissions.ask": ["edit(docs)"]})
    with terminal(coder) as screen:
        screen.wait_for("> ")
        screen.type("/permissions\n")
        shown = screen.wait_for("sandbox: ")
        assert "mode: default\npreset: balanced\n" in shown
        assert re.search(r"  commands that only read +allow\n", shown)
        assert re.search(r"  tests and builds +ask\n", shown)
        assert "rules:\n  deny   bash(git push)\n  ask    edit(docs)\n" in shown
        screen.wait_for("> ")
        screen.type("/permissions lax\n")
        screen.wait_for("unknown preset 'lax'; choose one of strict, balanced, auto-edit, yolo, no-profile\n")
        screen.wait_for("> ")
        screen.type("/permissions strict\n")
        assert re.search(r"  commands that only read +ask\n", screen.wait_for("sandbox: "))
        screen.wait_for("> ")
        screen.type("go\n")
        asked = screen.wait_for(ALLOW)
        assert "Run this command?\n  $ ls\n  it only reads; strict preset\n" in asked
        screen.type("a\n")
        screen.wait_for("yes\n")
        screen.wait_for("> ")
        screen.type("/permissions\n")
        assert "bash: ls  (this session)\n" in screen.wait_for("sandbox: ")
    again = coder.run("-p", "again", "--continue")
    assert (again.out, again.code) == ("yes\n", 0)
    assert coder.run("-p", "new").out == "yes\n"
    events = [event for log in read_logs(coder.home / "sessions.db").values() for event in log]
    assert [event["preset"] for event in events if event["kind"] == "session.configured"] == ["strict"]


def test_d15_d20_always_on_one_target_of_make_also_ran_another(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    (folder / "Makefile").write_text("all:\n\t@echo all >> made\nother:\n\t@echo other >> made\n")
    answers = iter(["make all", "make -s all", "make other", "make all > log", "make all SHELL=./evil.sh"])
    current: list[str] = []

    def make(history: History) -> Answer:
        if history[-1].role == "tool":
            return says("no" if "Not allowed" in history[-1].text else "yes")
        current[:] = [next(answers)]
        return proposes(bash(current[0]))

    coder = coder_on(serve(by_history(make)))
    coder.run("-p", "go", "--unattended", "park")
    (row,) = [json.loads(line) for line in coder.run("asks", "--json").out.splitlines()]
    need = row["ask"]["need"]
    assert (need["words"], need["prefix"], need.get("rights", [])) == (["make", "all"], True, [])
    assert coder.run("answer", row["ask"]["id"], "project").code == 0
    listed = coder.run("permissions", "list").out
    assert f"bash: make all with safe options  ({folder}, until 20" in listed
    assert [coder.run("-p", "go").out for _ in range(4)] == ["yes\n", "no\n", "no\n", "no\n"]
    assert (folder / "made").read_text() == "all\nall\n"


def test_c08_auto_edit_runs_tests_unasked_where_there_is_a_sandbox(
    serve: Serve, coder_on: CoderOn, folder: Path
) -> None:
    """And everywhere else it asks: `check` says which of both is the case here."""
    (folder / "Makefile").write_text("check:\n\t@echo checked > made\n")
    coder = coder_on(serve(by_history(commands("make check"))))
    said = coder.run("permissions", "check", "--mode", "auto-edit", "make check").out
    assert said in (
        "allow: it runs in the sandbox\n",
        "ask: make may change things; no sandbox\n",
    )
    ran = coder.run("-p", "go", "--mode", "auto-edit")
    assert (ran.out, ran.code) == (("yes\n", 0) if said.startswith("allow") else ("no\n", 3))
    configure(coder, **{"sandbox.enabled": False})
    unconfined = coder.run("-p", "go", "--mode", "auto-edit")
    assert (unconfined.out, unconfined.code) == ("no\n", 3)


def test_a_secret_file_reached_the_model_by_a_link_and_by_a_search(
    serve: Serve, coder_on: CoderOn, folder: Path
) -> None:
    (folder / ".env").write_text("KEY=hunter2\n")
    (folder / "notes.txt").symlink_to(".env")
    (folder / "src").mkdir()
    (folder / "src" / "a.py").write_text("KEY\n")
    coder = coder_on(serve(by_history(commands("cat notes.txt", "grep -r KEY .", "grep -r KEY src"))))
    assert coder.run("-p", "go").out == "no | no | yes\n"
    assert "hunter2" not in json.dumps(list(read_logs(coder.home / "sessions.db").values()))


@pytest.mark.parametrize(
    ("fifo", "command"),
    [(".git/index", "git grep -n word"), ("sub/.npmrc", "grep -rn word .")],
    ids=["index", "npmrc"],
)
def test_a_fifo_among_the_files_that_are_looked_at_before_a_search_stopped_coder(
    coder: Coder, folder: Path, fifo: str, command: str
) -> None:
    (folder / fifo).parent.mkdir(exist_ok=True)
    os.mkfifo(folder / fifo)
    assert coder.run("permissions", "check", command).out != ""


def test_an_approval_with_the_network_covered_another_target(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    (folder / "Makefile").write_text("test:\n\t@echo test >> made\ndeploy:\n\t@echo deploy >> made\n")
    current = ["CODER_NETWORK=1 make test"]

    def make(history: History) -> Answer:
        if history[-1].role == "tool":
            return says("no" if "Not allowed" in history[-1].text else "yes")
        return proposes(bash(current[0]))

    coder = coder_on(serve(by_history(make)))
    coder.run("-p", "go", "--unattended", "park")
    (row,) = [json.loads(line) for line in coder.run("asks", "--json").out.splitlines()]
    assert coder.run("answer", row["ask"]["id"], "project").code == 0
    assert "bash: CODER_NETWORK=1 make test, with network access  (" in coder.run("permissions", "list").out
    said: dict[str, str] = {}
    for current[0] in ("CODER_NETWORK=1 make test", "CODER_NETWORK=1 make deploy", "make deploy", "make test"):
        said[current[0]] = coder.run("-p", "go").out
    assert list(said.values()) == ["yes\n", "no\n", "no\n", "no\n"]
    assert (folder / "made").read_text() == "test\ntest\n"


def test_d17_d23_a_background_command_is_asked_about_like_any_other(serve: Serve, coder_on: CoderOn) -> None:
    def leaves(history: History) -> Answer:
        results = [said.text for said in history if said.role == "tool"]
        if results:
            return says("no" if "Not allowed" in results[-1] else "yes")
        return proposes(call("bash", command="./serve", background=True))

    coder = coder_on(serve(by_history(leaves)))
    assert coder.run("-p", "go", "--unattended", "park").code == 5
    (row,) = [json.loads(line) for line in coder.run("asks", "--json").out.splitlines()]
    need = row["ask"]["need"]
    assert (need["command"], need["background"], need["words"]) == ("./serve", True, ["./serve"])
    assert coder.run("answer", row["ask"]["id"], "deny").out.endswith("no\n")
    assert coder.run("-p", "go", "--mode", "plan").out == "no\n"
