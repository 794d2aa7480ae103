"""`coder completions`, as shells use it."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from coderelay.cli.completions import COMMANDS, SCRIPTS, VALUES
from coderelay.cli.startup.localized_argument_parser import SUBCOMMANDS
from coderelay.protocol.modes import MODE_NAMES
from tests.coder_process import Coder
from tests.conftest import Serve
from tests.model_server import ModelServerThread, says, script
from tests.terminal.pty import Terminal, at_terminal

CoderOn = Callable[[ModelServerThread], Coder]
_BASH = ("-c", "import os; os.execvp('bash', ['bash', '--norc', '--noprofile', '-i'])")


@pytest.fixture
def coder(tmp_path: Path, folder: Path) -> Coder:
    return Coder(tmp_path / "home", folder, None)


def offered(coder: Coder, line: str) -> list[str]:
    ran = coder.run("completions", "--line", line)
    assert (ran.code, ran.err) == (0, "")
    return [each.partition("\t")[0] for each in ran.out.splitlines()]


def test_what_may_follow_is_offered(coder: Coder) -> None:
    assert offered(coder, "coder ") == list(SUBCOMMANDS)
    assert offered(coder, "coder as") == ["asks"]
    assert offered(coder, "coder --m") == ["--mode", "--model", "--max-steps", "--max-turns"]
    assert offered(coder, "coder --mode ") == [*MODE_NAMES]
    assert offered(coder, "coder -p hi --output s") == ["stream-json"]
    assert offered(coder, "coder -p sessions -") == [each for each in COMMANDS[""] if each[0] == "-"] + ["--help"]
    assert offered(coder, "coder mcp r") == ["remove"]
    assert offered(coder, "coder sessions show ID --") == ["--diff", "--help"]
    assert offered(coder, "coder mcp add x -- ") == []
    assert offered(coder, "coder --cwd ") == [], "shells know folders"


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_it_offers_what_help_names_and_nothing_else(coder: Coder, command: str) -> None:
    told = coder.run(*command.split(), "--help").out
    named = set(
        re.findall(r"(?<![\w-])--[a-z-]+", re.split(r"\n(?:options|选项)[:：]\n", told)[1].partition("\ncommands")[0])
    )
    table = {each for each in COMMANDS[command] if each.startswith("--")} | {"--help"}
    assert {each for each in named if f"  {each}" in told or f", {each}" in told} == table
    valued = {each for each in table if re.search(rf"{each} \[?[A-Z'{{]", told)}
    assert valued == table & VALUES.keys()


def test_every_subcommand_and_action_is_known(coder: Coder) -> None:
    assert set(SUBCOMMANDS) <= COMMANDS.keys()
    for name in SUBCOMMANDS:
        metavar = re.search(r"^  ([a-z]+(?:\|[a-z]+)+)$", coder.run(name, "--help").out, re.MULTILINE)
        actions = metavar[1].split("|") if metavar else []
        assert [each for each in COMMANDS if each.startswith(f"{name} ")] == [f"{name} {each}" for each in actions]


def test_sessions_models_and_servers_are_offered_by_name(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script(says("done"))))
    coder.run("-p", "tidy up\tthe garden")
    coder.run("mcp", "add", "notes", "--", "notes-server")
    session = coder.run("sessions", "list").out.split()[0]
    assert coder.run("completions", "--line", "coder resume ").out == f"{session}\ttidy up the garden\n"
    assert offered(coder, f"coder sessions export {session[:5]}") == [session]
    assert offered(coder, "coder --resume x") == []
    assert offered(coder, "coder mcp remove ") == ["notes"]
    assert "openai:scripted" in offered(coder, "coder --model openai:")


def test_a_broken_configuration_breaks_no_shell(coder: Coder) -> None:
    coder.home.mkdir()
    (coder.home / "config.json").write_text("{")
    assert offered(coder, "coder --model ") == []
    assert coder.run("completions", "--line", "coder resume ").out == ""


@pytest.mark.parametrize("shell", sorted(SCRIPTS))
def test_a_script_is_one_its_shell_can_read(coder: Coder, tmp_path: Path, shell: str) -> None:
    ran = coder.run("completions", shell)
    assert (ran.code, ran.err, ran.out) == (0, "", SCRIPTS[shell])
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    (tmp_path / "script").write_text(ran.out)
    subprocess.run([shell, "-n", tmp_path / "script"], check=True)


@contextmanager
def bash_with_completion(coder: Coder, tmp_path: Path) -> Generator[Terminal]:
    bin_folder = tmp_path / "bin"
    bin_folder.mkdir()
    (bin_folder / "coder").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m coderelay.cli "$@"\n')
    (bin_folder / "coder").chmod(0o755)
    env = {"PATH": f"{bin_folder}:{os.environ['PATH']}", "PS1": "ready> ", "INPUTRC": os.devnull}
    with at_terminal(coder, env=env, program=_BASH) as terminal:
        terminal.wait_until(lambda seen: seen.cursor_row.strip() == "ready>", "bash")
        terminal.enter('eval "$(coder completions bash)"; clear')
        terminal.wait_until(lambda seen: seen.text.strip() == "ready>", "the script")
        yield terminal


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_the_tab_key_completes_in_bash(serve: Serve, coder_on: CoderOn, tmp_path: Path) -> None:
    coder = coder_on(serve(script(says("done"))))
    coder.run("-p", "tidy up")
    session = coder.run("sessions", "list").out.split()[0]
    with bash_with_completion(coder, tmp_path) as terminal:
        for typed, whole in (
            ("coder perm", "coder permissions "),
            ("coder --unattended p", "coder --unattended park "),
            ("coder resume ", f"coder resume {session} "),
            ("coder --model openai:scr", "coder --model openai:scripted "),
        ):
            terminal.type(typed)
            terminal.press("tab")
            terminal.type("|")
            terminal.wait_until(lambda seen, whole=whole: f"ready> {whole}|" in seen.text, whole)
            terminal.press("c-u")
