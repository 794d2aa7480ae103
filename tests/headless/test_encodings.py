"""`coder` in locales whose encoding is not UTF-8: what cannot be written is escaped, and nothing is a traceback."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.coder_process import PROGRAM, Coder
from tests.conftest import Serve
from tests.model_server import ModelServerThread, proposes, says, script, write
from tests.patience import PATIENCE

CoderOn = Callable[[ModelServerThread], Coder]
SAID = "naïve 中文 🙂"
PLAIN_C = {"LC_ALL": "C", "LANG": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
LOCALES = {
    "ascii": PLAIN_C,
    "latin-1": {"PYTHONIOENCODING": "iso-8859-1"},
    "gbk": {"PYTHONIOENCODING": "gbk"},
    "strict utf-8": {"PYTHONIOENCODING": "utf-8:strict"},
}


@pytest.mark.parametrize("env", LOCALES.values(), ids=LOCALES)
def test_an_answer_that_the_locale_cannot_write_is_escaped(
    serve: Serve, coder_on: CoderOn, env: dict[str, str]
) -> None:
    ran = in_bytes(coder_on(serve(script(says(SAID)))), env, "-p", "hi")
    encoding = env.get("PYTHONIOENCODING", "ascii").partition(":")[0]
    assert ran == (0, f"{SAID}\n".encode(encoding, "backslashreplace"), b"")


@pytest.mark.parametrize("form", ["json", "stream-json"])
@pytest.mark.parametrize("env", LOCALES.values(), ids=LOCALES)
def test_json_is_json_in_every_locale(serve: Serve, coder_on: CoderOn, env: dict[str, str], form: str) -> None:
    code, out, err = in_bytes(coder_on(serve(script(says("中文 🙂")))), env, "-p", "hi", "--output", form)
    assert (code, err) == (0, b"")
    assert json.loads(out.decode().splitlines()[-1])["result"] == "中文 🙂"


@pytest.mark.parametrize("env", LOCALES.values(), ids=LOCALES)
def test_chinese_on_a_terminal_that_has_none_is_no_traceback(
    serve: Serve, coder_on: CoderOn, env: dict[str, str]
) -> None:
    coder = coder_on(serve(script(proposes(write("é.txt", "中文")))))
    assert coder.run("-p", "写 é", "--unattended", "park").code == 5
    for line in ("--help", "sessions", "asks"):
        code, out, err = in_bytes(coder, env | {"CODER_LANG": "zh"}, *line.split())
        assert (code, err, out != b"") == (0, b"", True)
    listed = in_bytes(coder, env, "asks", "--json")[1]
    assert json.loads(listed)["ask"]["need"]["title"] == "é.txt"


def test_lines_from_a_pipe_that_are_not_in_the_encoding_of_the_locale(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(says("fine")))
    ran = coder_on(server).run(text="中文\n", env=PLAIN_C)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.endswith("fine\n")


def test_in_a_gbk_locale_prompts_and_answers_are_gbk(serve: Serve, coder_on: CoderOn, tmp_path: Path) -> None:
    server = serve(script(says("好的 🙂"), says("again")))
    coder = coder_on(server)
    env = {"LOCPATH": str(tmp_path / "locales"), "LC_ALL": "zh_CN.GBK"}
    make_locale(tmp_path / "locales" / "zh_CN.GBK", "zh_CN", "GBK")
    ran = in_bytes(coder, env, "-p", "修复".encode("gbk"))
    assert ran == (0, "好的 \\U0001f642\n".encode("gbk"), b"")
    assert in_bytes(coder, env, "-p", "修复".encode())[:2] == (0, b"again\n")
    said = [each["messages"][-1]["content"] for each in server.requests]
    assert [each.endswith("修复") for each in said] == [True, True]


def in_bytes(coder: Coder, env: dict[str, str], *arguments: str | bytes) -> tuple[int, bytes, bytes]:
    """Like `Coder.run`, but with the bytes that were written."""
    done = subprocess.run(
        [sys.executable, *PROGRAM, *arguments],
        cwd=coder.cwd,
        env=coder.env | env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def make_locale(folder: Path, language: str, charmap: str) -> None:
    folder.parent.mkdir(parents=True)
    try:
        made = subprocess.run(
            ["localedef", "-i", language, "-f", charmap, str(folder)], capture_output=True, check=False
        )
    except FileNotFoundError:
        pytest.skip("localedef is not installed")
    if not folder.exists():
        pytest.skip(f"the locale cannot be made: {made.stderr.decode(errors='replace').splitlines()[:1]}")
