"""The guide as a person meets it: `coder` where no model is set up, killed anywhere and carried on."""

import json
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from tests.coder_process import Coder, Ran
from tests.conftest import Serve
from tests.crash.journey import CRASHING
from tests.guide.guided_house import END, END_ZH
from tests.guide.no_model_servers import nobody_listens
from tests.log_checker import check_settled, read_logs
from tests.model_server import ModelServerThread, says, script

KEY = "sk-very-secret-0123456789"
ARROWS = [
    "after:prompt.admitted:1",
    "before:message.added:1",
    "after:message.added:1",
    "before:tool.ran:1",
    "after:tool.ran:1",
    "after:call.ended:1",
    "before:message.added:2",
    "before:tool.ran:2",
    "after:tool.ran:2",
    "after:call.ended:2",
    "before:turn.ended:1",
]


@pytest.fixture
def coder(tmp_path: Path, folder: Path) -> Generator[Coder]:
    """Nothing of this machine is seen: a home of its own, and nobody at the ports of local servers."""
    home = tmp_path / "home"
    home.mkdir()
    with nobody_listens() as addresses:
        providers = {name: {"base_url": address} for name, address in addresses.items()}
        (home / "config.json").write_text(json.dumps({"providers": providers}))
        coder = Coder(home, folder, None)
        coder.env |= {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
        yield coder


@pytest.mark.quick
def test_where_no_model_is_the_guide_answers_and_says_so(coder: Coder) -> None:
    (coder.cwd / "a.txt").touch()
    ran = coder.run("-p", "list the files", "--mode", "yolo")
    assert (ran.code, ran.out) == (0, f"```\na.txt\n```{END}\n")
    assert "No model found. A built-in guide answers" in ran.err


def test_with_nobody_to_ask_an_unclear_request_is_denied_and_help_given(coder: Coder) -> None:
    ran = coder.run("-p", "把它修好")
    assert ran.code == 3
    assert ran.out.startswith("尚未连接模型。我是向导")


def test_a_command_is_asked_about_before_it_runs(coder: Coder) -> None:
    (coder.cwd / "Makefile").write_text("test:\n\t@touch made\n")
    ran = coder.run("-p", "运行测试")
    assert (ran.code, (coder.cwd / "made").exists()) == (3, False)
    assert ran.out.endswith(f"{END_ZH}\n")


def test_a_start_with_a_model_loads_neither_the_rules_nor_what_looks_around(
    serve: Serve, coder_on: Callable[[ModelServerThread], Coder]
) -> None:
    ran = coder_on(serve(script(says("hi")))).run("-p", "go", env={"PYTHONPROFILEIMPORTTIME": "1"})
    assert ran.out == "hi\n"
    for module in ("agents.guide.steps", "config.detect_here", "models.local_servers", "models.local.weights"):
        assert f" coderelay.{module}\n" not in ran.err


def test_b36_x41_a_key_from_another_programs_file_is_not_seen_by_commands(coder: Coder, tmp_path: Path) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text(json.dumps({"env": {"ANTHROPIC_AUTH_TOKEN": KEY}}))
    (coder.cwd / "Makefile").write_text("test:\n\t@env | sort\n")
    ran = coder.run("-p", "run the tests", "--model", "guide", "--mode", "yolo", "--output", "stream-json")
    assert ran.code == 0
    assert "CODER=1" in ran.out
    assert KEY not in ran.out + ran.err
    assert KEY.encode() not in b"".join(path.read_bytes() for path in coder.home.rglob("*") if path.is_file())


@pytest.mark.parametrize("arrow", ARROWS)
def test_x25_killed_between_two_steps_of_a_turn_and_continued(coder: Coder, arrow: str) -> None:
    """What had begun when the process died is not done again, and it is said that nobody knows what became of it."""
    killed = _run(coder, "create file a.txt with hello", env={"CODER_CRASH": arrow})
    assert killed.code == -9
    carried = _run(coder, "help", "--continue")
    assert (carried.code, carried.err) == (0, "")
    (log,) = read_logs(coder.home / "sessions.db").values()
    check_settled(log)
    said = [each["text"] for each in log if each["kind"] == "turn.ended"]
    created = f"```\ncreated a.txt (1 line)\n```{END}"
    unknown = f"It was interrupted and may have run. Check before repeating it.{END}"
    outcomes = [each["outcome"]["type"] for each in log if each["kind"] == "call.ended"]
    assert said[0] == (unknown if "unknown" in outcomes else created)
    assert (coder.cwd / "a.txt").exists() == ("finished" in outcomes or arrow == "after:tool.ran:2")
    assert said[1].startswith("No model is connected. I am the built-in guide")


def _run(coder: Coder, prompt: str, *flags: str, env: dict[str, str] | None = None) -> Ran:
    return coder.fork(CRASHING, "-p", prompt, "--mode", "yolo", *flags, env=env).wait()
