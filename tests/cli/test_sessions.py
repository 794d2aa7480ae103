"""`coder sessions`, `coder resume`, `coder doctor`, `coder --version`."""

import getpass
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from coderelay import __version__
from tests.coder_process import PROGRAM, Coder, Ran
from tests.conftest import Serve
from tests.log_checker import read_logs
from tests.model_server import ModelServerThread, bash, proposes, says, script
from tests.terminal.repl import repl

CoderOn = Callable[[ModelServerThread], Coder]


def test_list_shows_the_newest_first_and_the_folder_ones(serve: Serve, coder_on: CoderOn, tmp_path: Path) -> None:
    coder = coder_on(serve(script(says("a"), says("b"), says("c"))))
    coder.run("-p", "first one")
    coder.run("-p", "second one")
    other = tmp_path / "other"
    other.mkdir()
    coder.run("-p", "elsewhere", "--cwd", str(other))
    lines = coder.run("sessions").out.splitlines()
    assert [line.partition(" done ")[2].strip().split("  ")[0] for line in lines] == [
        "elsewhere",
        "second one",
        "first one",
    ]
    assert len(coder.run("sessions", "list", "--here").out.splitlines()) == 2
    assert [json.loads(line)["title"] for line in coder.run("sessions", "list", "--json").out.splitlines()] == [
        "elsewhere",
        "second one",
        "first one",
    ]


def test_people_who_work_as_one_user_are_told_apart_by_the_names_they_give(serve: Serve, coder_on: CoderOn) -> None:
    """Symptom: on a log that a team shares, everybody who is root had the approvals and the budget of all."""
    coder = coder_on(serve(script(says("a"), says("b"))))
    coder.run("-p", "one", env={"CODER_PERSON": " anne "})
    coder.run("-p", "two", "--continue", env={"CODER_PERSON": ""})
    (log,) = read_logs(coder.home / "sessions.db").values()
    assert [each["by"]["who"] for each in log if each["kind"] == "turn.started"] == ["anne", getpass.getuser()]


def test_show_tells_the_conversation(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script(proposes(bash("echo hi"), text="look"), says("done"))))
    coder.run("-p", "go", "--mode", "yolo")
    out = coder.run("sessions", "show", _only(coder)).out
    assert out.endswith('\n> go\n\nlook\n\n• Bash {"command":"echo hi"}\n\n  hi\n\ndone\n')


def test_export_is_the_snapshot(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    coder = coder_on(serve(script(says("done"))))
    coder.run("-p", "go")
    session = _only(coder)
    exported = json.loads(coder.run("sessions", "export", session).out)
    assert exported == json.loads((folder / ".coder" / "sessions" / f"{session}.json").read_text())


def test_b25_delete_removes_it_and_says_so_if_there_is_none(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script(says("done"))))
    coder.run("-p", "go")
    session = _only(coder)
    assert coder.run("sessions", "delete", session) == Ran(0, f"deleted {session}\n", "")
    assert coder.run("sessions").out == ""
    again = coder.run("sessions", "delete", session)
    assert again.code == 1
    assert f"no session {session!r}" in again.err


@pytest.mark.parametrize("action", ["show", "export", "delete"])
def test_an_unknown_session_is_named(serve: Serve, coder_on: CoderOn, action: str) -> None:
    ran = coder_on(serve(script())).run("sessions", action, "nope")
    assert (ran.code, ran.out) == (1, "")
    assert "no session 'nope'" in ran.err


def test_delete_from_another_process_ends_a_running_turn(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    coder = coder_on(serve(script(proposes(bash("touch began; sleep 600")))))
    started = coder.start("-p", "go", "--mode", "yolo", "--output", "stream-json")
    assert started.process.stdout is not None
    while '"tool_use"' not in started.process.stdout.readline():
        assert started.process.poll() is None
    assert coder.run("sessions", "delete", _only(coder)).code == 0
    assert started.wait().code == 1
    assert coder.run("sessions").out == ""


@pytest.mark.quick
def test_resume_carries_on_what_was_cut_off(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    coder = coder_on(serve(script(proposes(bash("touch began; sleep 600")), says("carried on"), says("more"))))
    started = coder.start("-p", "go", "--mode", "yolo", "--output", "stream-json")
    assert started.process.stdout is not None
    while '"tool_use"' not in started.process.stdout.readline():
        assert started.process.poll() is None
    started.kill()
    ran = coder.run("resume", _only(coder), text="and now\n")
    assert ran.code == 0
    assert "interrupted; it may have run" in ran.out
    assert ran.out.endswith("carried on\n> and now\nmore\n")


def test_resume_without_an_id_takes_the_newest_of_this_folder(
    serve: Serve, coder_on: CoderOn, tmp_path: Path
) -> None:
    coder = coder_on(serve(script(says("a"), says("b"), says("c"), says("d"))))
    coder.run("-p", "first one")
    coder.run("-p", "second one")
    second = json.loads(coder.run("sessions", "list", "--json").out.splitlines()[0])["id"]
    coder.run(text="/exit\n")  # a session that was opened and never used
    other = tmp_path / "other"
    other.mkdir()
    coder.run("-p", "elsewhere", "--cwd", str(other))
    ran = coder.run("resume", text="and now\n")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"continuing {second}  second one\n")
    assert ran.out.endswith("> and now\nd\n")


def test_resume_without_an_id_says_at_a_terminal_which_one_it_took(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script(says("a"))))
    coder.run("-p", "tidy up")
    with repl(coder, "resume") as terminal:
        terminal.wait_for(f"continuing {_only(coder)}  tidy up")


def test_resume_without_an_id_where_there_is_none_says_what_to_do(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script()))
    ran = coder.run("resume")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == f"coder: no session to continue in {coder.cwd}\nStart one with `coder`.\n"


def test_resume_takes_the_beginning_of_a_title(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script(says("a"), says("b"))))
    coder.run("-p", "tidy up the garden")
    assert coder.run("resume", "tidy", text="more\n").out.endswith("> more\nb\n")


def test_resume_of_an_unknown_session_is_refused(serve: Serve, coder_on: CoderOn) -> None:
    ran = coder_on(serve(script())).run("resume", "nope")
    assert ran.code == 1
    assert ran.err == "coder: no session 'nope'\n`coder sessions` lists all sessions.\n"


def test_resume_where_the_folder_is_gone_says_so_and_changes_nothing(
    serve: Serve, coder_on: CoderOn, tmp_path: Path
) -> None:
    coder = coder_on(serve(script(says("a"))))
    other = tmp_path / "other"
    other.mkdir()
    coder.run("-p", "go", "--cwd", str(other))
    for path in sorted(other.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    other.rmdir()
    before = coder.run("sessions", "list", "--json").out
    ran = coder.run("-p", "more", "--resume", _only(coder))
    assert ran.code == 1
    assert "does not exist" in ran.err
    assert coder.run("sessions", "list", "--json").out == before


def test_doctor_says_what_is_there_and_what_is_missing(serve: Serve, coder_on: CoderOn, tmp_path: Path) -> None:
    coder = coder_on(serve(script(says("a"))))
    coder.run("-p", "go")
    good = coder.run("doctor")
    assert good.code == 0
    assert "intact, 1 session" in good.out
    bare = Coder(tmp_path / "nothing", coder.cwd, None).run("doctor", env={"HOME": str(tmp_path)})
    assert bare.code == 0
    assert "OPENAI_API_KEY" in bare.out
    assert not (tmp_path / "nothing").exists()


def test_doctor_finds_a_damaged_log_and_leaves_it_alone(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script()))
    coder.home.mkdir()
    (coder.home / "sessions.db").write_bytes(b"not a database at all" * 100)
    ran = coder.run("doctor")
    assert ran.code == 1
    assert "is damaged or not a database" in ran.out
    assert "damaged" in coder.run("-p", "hi").err
    assert (coder.home / "sessions.db").read_bytes() == b"not a database at all" * 100


def test_doctor_never_prints_a_secret(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script()))
    env = {"OPENAI_API_KEY": "sk-secret", "OPENAI_BASE_URL": "https://me:sk-hidden@example.org/v1"}
    ran = coder.run("doctor", env=env)
    assert "sk-" not in ran.out + ran.err


@pytest.mark.quick
def test_version_and_help(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script()))
    assert coder.run("--version") == Ran(0, f"coder {__version__}\n", "")
    help_text = coder.run("--help").out
    for word in ("-p", "--output", "--unattended", "sessions", "resume", "doctor", "exit codes"):
        assert word in help_text


@pytest.mark.quick
def test_start_up_loads_nothing_heavy(serve: Serve, coder_on: CoderOn) -> None:
    """`--version` and `--help` stay fast because they import almost nothing."""
    coder = coder_on(serve(script()))
    for flag in ("--version", "--help"):
        loaded = coder.run(flag, env={"PYTHONPROFILEIMPORTTIME": "1"}).err
        for module in ("asyncio", "msgspec", "sqlite3", "coderelay.host"):
            assert f" {module}\n" not in loaded


_SELDOM_USED = {
    "coderelay.agents.guide.intents",
    "coderelay.client.ask_view",
    "coderelay.config.edit_config",
    "coderelay.host.shell_command_disk_facts",
    "coderelay.policy.secrets.private_keys",
    "coderelay.policy.secrets.value_after_secret_name",
    "coderelay.tools.editing.patch_parser",
    "coderelay.tools.search.file_walk",
    "psutil",
    "random",
    "shutil",
    "starlette",
    "uvicorn",
    "websockets",
}


def test_the_first_request_waited_for_modules_that_few_turns_use(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script(says("hello"))))
    ran = coder.run("-p", "hi", env={"PYTHONPROFILEIMPORTTIME": "1"})
    loaded = {line.rpartition("|")[2].strip() for line in ran.err.splitlines()}
    assert "coderelay.host.host" in loaded
    assert loaded & _SELDOM_USED == set()


_SAYS_AT_THE_END = """
import gc, os
from coderelay.cli import run
leave = os._exit
def told(code):
    os.write(2, b"collected" if gc.isenabled() else b"left")
    leave(code)
os._exit = told
run()
"""


@pytest.mark.parametrize(
    "line",
    ["-p hi", "sessions", "asks", "permissions list", "mcp list", "model list", "doctor"],
)
def test_only_two_commands_collected_their_garbage(serve: Serve, coder_on: CoderOn, line: str) -> None:
    coder = coder_on(serve(script(says("hello"))))
    ran = coder.start(*line.split(), program=("-c", _SAYS_AT_THE_END)).wait()
    assert ran.err.endswith("collected")


def _only(coder: Coder) -> str:
    (line,) = coder.run("sessions", "list", "--json").out.splitlines()
    return json.loads(line)["id"]


def test_ctrl_c_at_once_leaves_cleanly(serve: Serve, coder_on: CoderOn) -> None:
    """However early the signal comes, there is no traceback and the log stays whole."""
    coder = coder_on(serve(script(*[says("a") for _ in range(8)])))
    for _ in range(4):
        started = coder.start("-p", "go")
        started.send(signal.SIGINT)
        ran = started.wait()
        before_coder = "init_import_site" in ran.err  # Python itself was still starting
        assert ran.code in (0, 130, -2) or before_coder
        assert "Traceback" not in ran.err or "coderelay" not in ran.err
    assert coder.run("doctor").code == 0


def test_a_pipe_that_nobody_reads_any_more_is_no_crash(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script(*[says("done")] * 3)))
    for _ in range(3):
        coder.run("-p", "x" * 5000)
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [sys.executable, "-u", *PROGRAM, "sessions"],
        cwd=coder.cwd,
        env=coder.env,
        stdout=writer,
        stderr=subprocess.PIPE,
        timeout=60,
        check=False,
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")
