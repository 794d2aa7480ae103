"""The flags and forms that people know from Claude Code and Codex."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coderelay.testing.model_server import without_notes
from tests.coder_process import PROGRAM, Coder, Ran
from tests.conftest import Serve
from tests.model_server import ModelServerThread, bash, proposes, read, says, script
from tests.patience import PATIENCE
from tests.terminal.repl import repl

CoderOn = Callable[[ModelServerThread], Coder]


def asked(server: ModelServerThread, request: int = -1) -> str:
    """What the person asks in a request."""
    return without_notes(server.requests[request]["messages"][-1]["content"])


def the_session(coder: Coder) -> dict[str, Any]:
    return json.loads(coder.run("sessions", "--json").out.splitlines()[0])


def test_piped_input_is_added_to_the_prompt(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(says("fine")))
    coder = coder_on(server)
    assert coder.run("-p", "review this", text="- old\n+ new\n") == Ran(0, "fine\n", "")
    assert asked(server) == "review this\n\n- old\n+ new\n"
    assert the_session(coder)["title"] == "review this"


def test_a_redirected_file_is_added_and_an_empty_one_is_not(serve: Serve, coder_on: CoderOn, tmp_path: Path) -> None:
    server = serve(script(says("a"), says("b")))
    coder = coder_on(server)
    for name, content in (("full", b"text"), ("empty", b"")):
        (tmp_path / name).write_bytes(content)
        with (tmp_path / name).open("rb") as file:
            subprocess.run(
                [sys.executable, *PROGRAM, "-p", "read"], cwd=coder.cwd, env=coder.env, stdin=file, check=True,
                timeout=PATIENCE, capture_output=True,
            )  # fmt: skip
    assert [asked(server, each) for each in (0, 1)] == ["read\n\ntext", "read"]


@pytest.mark.parametrize(
    ("arguments", "text", "prompt"),
    [
        (["-p"], "from a pipe", "from a pipe"),
        (["-p", "-"], "from a pipe", "from a pipe"),
        (["--print", "hi"], None, "hi"),
        (["-p", "--output-format", "text", "fix the tests"], None, "fix the tests"),
        (["fix the tests", "-p"], "the log", "fix the tests\n\nthe log"),
        (["-p", "fix", "sub"], None, "fix"),
        (["-p", "--max-turns", "3", "sub"], "in a folder", "in a folder"),
    ],
)
def test_where_the_prompt_of_p_comes_from(
    serve: Serve, coder_on: CoderOn, folder: Path, arguments: list[str], text: str | None, prompt: str
) -> None:
    (folder / "sub").mkdir()
    server = serve(script(says("done")))
    coder = coder_on(server)
    assert coder.run(*arguments, text=text) == Ran(0, "done\n", "")
    assert asked(server) == prompt
    assert the_session(coder)["cwd"] == str(folder / "sub" if "sub" in arguments else folder)


@pytest.mark.parametrize("arguments", [["-p"], ["-p", "--mode", "plan", "."], ["-p", " "]])
def test_p_without_a_prompt_is_wrong_usage(serve: Serve, coder_on: CoderOn, arguments: list[str]) -> None:
    ran = coder_on(serve(script())).run(*arguments)
    assert (ran.code, "the prompt is empty" in ran.err) == (2, True)


def test_coder_prompt_starts_the_terminal_with_it(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    server = serve(script(says("all green"), says("more")))
    coder = coder_on(server)
    with repl(coder, "fix the tests") as terminal:
        terminal.wait_until(lambda seen: "all green" in seen.all_text, "the answer")
    assert asked(server) == "fix the tests"
    with repl(coder, "-c", "and now?") as terminal:
        terminal.wait_until(lambda seen: "more" in seen.all_text, "the answer")
    assert (asked(server), len(coder.run("sessions", "--json").out.splitlines())) == ("and now?", 1)


def test_coder_prompt_without_a_terminal_runs_it_before_the_lines(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(says("one"), says("two")))
    ran = coder_on(server).run("fix the tests", text="and more\n")
    assert (ran.code, ran.out.endswith("> fix the tests\none\n> and more\ntwo\n")) == (0, True), ran


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("nowhere/at/all", "no such folder"),
        ("./sub", "no such folder"),
        ("session", "did you mean `coder sessions`?"),
    ],
)
def test_what_looks_like_a_folder_or_a_subcommand_is_no_prompt(
    serve: Serve, coder_on: CoderOn, given: str, problem: str
) -> None:
    ran = coder_on(serve(script())).run(given)
    assert (ran.code, problem in ran.err) == (2, True), ran


def test_r_continues_a_session_by_the_beginning_of_its_id(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(says("a"), says("b"), says("c")))
    coder = coder_on(server)
    coder.run("-p", "first")
    session = the_session(coder)["id"]
    assert coder.run("-r", session[:8], "-p", "again").out == "b\n"
    assert coder.run("-c", "-p", "more").out == "c\n"
    assert [message["role"] for message in server.requests[-1]["messages"]].count("user") == 3


def test_r_alone_lets_the_person_pick(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script(says("a"))))
    coder.run("-p", "tidy up")
    session = the_session(coder)["id"]
    with repl(coder, "-r") as terminal:
        terminal.wait_until(lambda seen: "tidy up" in seen.text, "the list")
        terminal.press("enter")
        terminal.wait_until(lambda seen: f"session {session}" in seen.all_text, "the session")
    for arguments in (["-p", "x", "-r"], ["-r"]):
        ran = coder.run(*arguments)
        assert (ran.code, "--resume needs a session ID if" in ran.err) == (2, True), arguments


@pytest.mark.parametrize(
    ("arguments", "mode"),
    [
        (["--permission-mode", "acceptEdits"], "auto-edit"),
        (["--permission-mode", "bypassPermissions"], "yolo"),
        (["--permission-mode", "plan"], "plan"),
        (["--dangerously-skip-permissions"], "yolo"),
        (["--full-auto"], "auto-edit"),
        (["--yolo"], "yolo"),
        (["--dangerously-bypass-approvals-and-sandbox"], "yolo"),
    ],
)
def test_the_modes_have_the_names_of_other_tools_too(
    serve: Serve, coder_on: CoderOn, arguments: list[str], mode: str
) -> None:
    coder = coder_on(serve(script(says("done"))))
    assert coder.run("-p", "go", *arguments).code == 0
    assert the_session(coder)["mode"] == mode


def test_instructions_of_the_command_line_are_told_and_kept(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(says("a"), says("b"), says("c")))
    coder = coder_on(server)
    coder.run("-p", "first", "--append-system-prompt", "Answer in French.")
    coder.run("-p", "second", "-c")
    coder.run("-p", "third", "-c", "--append-system-prompt", "Answer in Dutch.")
    told = [json.dumps(each["messages"]) for each in server.requests]
    assert [each.count("Answer in French.") for each in told] == [1, 1, 1]
    assert [each.count("Answer in Dutch.") for each in told] == [0, 0, 1]


def test_add_dir_lets_the_session_use_another_folder(serve: Serve, coder_on: CoderOn, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.txt").write_text("from there")
    server = serve(script(proposes(read(str(other / "a.txt"))), says("a"), says("b")))
    coder = coder_on(server)
    assert coder.run("-p", "look", "--add-dir", "../other").code == 0
    assert "from there" in server.requests[-1]["messages"][-1]["content"]
    (tmp_path / "third").mkdir()
    coder.run("-p", "go on", "-c", "--add-dir", str(tmp_path / "third"))
    assert the_session(coder)["folders"] == [str(other), str(tmp_path / "third")]
    missing = coder.run("-p", "look", "--add-dir", "missing")
    assert (missing.code, "missing" in missing.err) == (1, True), missing


def test_verbose_shows_progress_beside_json(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script(proposes(bash("echo hi")), says("done"))))
    ran = coder.run("-p", "go", "--verbose", "--output-format", "stream-json", "--mode", "yolo", with_progress=True)
    assert ran.err.startswith("• bash echo hi\n  exit code 0")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["--sandbox", "workspace-write", "fix it"],
            "unknown option --sandbox\nLeave it out: commands run in a sandbox.",
        ),
        (["-a", "never", "-p", "fix it"], "unknown option -a\nUse --mode: plan only reads, default asks,"),
        (["-p", "x", "--json"], "unknown option --json\nUse --output stream-json,"),
        (["-p", "x", "--settings=my.json"], "Settings are in ~/.coder/config.json"),
        (["-p", "x", "--output-fromat", "json"], "Did you mean --output-format?"),
        (
            ["-c", "model=gpt-5", "-p", "x"],
            "-c continues the newest session and takes no setting such as 'model=gpt-5'\nUse --model NAME.",
        ),
        (
            ["exec", "--json", "fix the tests"],
            "coder has no command 'exec'\nUse: coder -p \"PROMPT\". For --json: --output",
        ),
        (["-p", "x", "--color", "never"], "unknown option --color\nLeave it out: -p prints no colours"),
        (["-p", "x", "--modle", "m"], "Did you mean --mode or --model?"),
        (["-p", "x", "--yol"], "unknown option --yol\n`coder --help`"),
        (["sandbox", "ls"], "`coder permissions check COMMAND` says what would happen"),
        (["app-server"], "coder has no command 'app-server'\nUse: coder acp"),
        (["exec", "resume", "--last"], "coder has no command 'exec'"),
        (["login"], "There is no login. Set ANTHROPIC_API_KEY or OPENAI_API_KEY"),
        (["config", "list"], "/config in a session shows and changes them."),
        (["fix", "the", "tests"], 'unexpected argument: the tests\nPut a prompt in quotes: coder "fix the tests"'),
    ],
)
def test_an_option_or_command_of_another_tool_says_what_to_use(
    serve: Serve, coder_on: CoderOn, arguments: list[str], told: str
) -> None:
    ran = coder_on(serve(script())).run(*arguments)
    assert (ran.code, ran.out, told in ran.err) == (2, "", True), ran.err
    assert (len(ran.err.splitlines()) < 4, "usage:" in ran.err) == (True, False)


def test_a_prompt_may_begin_with_the_command_of_another_tool(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    server = serve(script(says("a"), says("b"), says("c")))
    coder = coder_on(server)
    coder.run("-p", "review")
    coder.run("review the tests", "-p")
    (folder / "exec").mkdir()
    coder.run("-p", "look", "exec")
    assert [asked(server, each) for each in range(3)] == ["review", "review the tests", "look"]


def test_help_as_a_word_prints_the_help(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script()))
    assert coder.run("help") == coder.run("--help")


def test_resume_last_continues_the_newest_session(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script(says("a"), says("b"))))
    coder.run("-p", "first")
    coder.run("resume", "--last", text="more\n")
    assert len(coder.run("sessions", "--json").out.splitlines()) == 1
    ran = coder.run("resume", "--last", "abc", "go on")
    assert (ran.code, "give an ID or --last, not both" in ran.err) == (2, True)


def test_resume_takes_a_prompt_and_the_options_of_a_session(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    server = serve(script(says("a"), says("b"), says("c"), says("d")))
    coder = coder_on(server)
    coder.run("-p", "first")
    session = the_session(coder)["id"]
    assert coder.run("resume", "--last", "go on").out.endswith("> go on\nb\n")
    (folder / "tests").mkdir()
    coder.run("resume", session[:8], "tests", "--full-auto", "-m", "gpt-5.5")
    assert [asked(server, each) for each in (-2, -1)] == ["go on", "tests"]
    assert (the_session(coder)["id"], the_session(coder)["mode"]) == (session, "auto-edit")
    with repl(coder, "resume", "--last", "and more") as terminal:
        terminal.wait_until(lambda seen: "❯ and more" in seen.all_text and "\nd" in seen.all_text, "the answer")
    ran = coder.run("resume", "--last", "-C", "missing")
    assert (ran.code, "no such folder" in ran.err) == (2, True), ran.err


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("sonnet", "no API key for anthropic:claude-sonnet-"),
        ("claude-opus-5-5", "no API key for anthropic:claude-opus-5-5"),
        ("no-such-model", "model 'no-such-model' must be provider:name, like openai:no-such-model"),
    ],
)
def test_a_model_may_be_named_without_its_provider(serve: Serve, coder_on: CoderOn, given: str, told: str) -> None:
    ran = coder_on(serve(script())).run("-m", given, "-p", "x")
    assert (ran.code, told in ran.err) == (1, True), ran.err
    openai = serve(script(says("done")))
    assert coder_on(openai).run("-m", "gpt-5.5", "-p", "x").out == "done\n"
    assert openai.requests[0]["model"] == "gpt-5.5"
