"""The small model server that README offers, as a person who follows README meets it."""

import json
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from coderelay.testing.model_server import Answer, RequestedCall, echo
from tests.coder_process import Coder

COMMAND = [sys.executable, "-m", "coderelay.testing.model_server"]


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


@pytest.mark.parametrize(
    ("last", "answer"),
    [
        (user("hello: there"), Answer("hello: there")),
        (user("run: make -j2 all"), Answer(calls=(RequestedCall("bash", {"command": "make -j2 all"}),))),
        (user("read: a b.txt"), Answer(calls=(RequestedCall("read", {"path": "a b.txt"}),))),
        (
            user("write: a two words\n"),
            Answer(calls=(RequestedCall("write", {"path": "a", "content": "two words\n"}),)),
        ),
        (user("tokens: 3"), Answer("tok tok tok ")),
        (user("tokens: many"), Answer("tokens: many")),
        (user("<mode>plan</mode>\n\nhi"), Answer("hi")),
        (
            user("<workflow>\ntests not run\n</workflow>\n\nread: a"),
            Answer(calls=(RequestedCall("read", {"path": "a"}),)),
        ),
        ({"role": "tool", "content": "run: first\nsecond"}, Answer("done: run: first")),
        (
            {"role": "user", "content": [{"type": "tool_result", "content": [{"type": "text", "text": "a\nb"}]}]},
            Answer("done: a"),
        ),
    ],
)
def test_the_last_message_decides_the_answer(last: dict[str, Any], answer: Answer) -> None:
    assert echo({"messages": [user("before"), last]}) == answer


@pytest.mark.parametrize("note", ["<mode>auto-edit</mode>", "<workflow>\n`make test` failed.\n</workflow>"])
def test_a_message_of_notes_alone_does_not_make_the_answer_empty(note: str) -> None:
    result = {"role": "tool", "content": "created a.txt"}
    assert echo({"messages": [user("before"), result, user(note)]}) == Answer("done: created a.txt")
    assert echo({"messages": [user("x"), {"role": "assistant", "content": "y"}, user(note)]}) == Answer("ok")


@contextmanager
def server(*arguments: str) -> Generator[str]:
    """The address of a server that runs as a program of its own."""
    with subprocess.Popen([*COMMAND, *arguments], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        try:
            export, url, key = process.stdout.readline().split()
            assert (export, key) == ("export", "OPENAI_API_KEY=scripted")
            yield url.removeprefix("OPENAI_BASE_URL=")
        finally:
            process.terminate()


@pytest.mark.parametrize("form", ["openai", "anthropic"])
def test_coder_works_with_it_as_readme_says(tmp_path: Path, folder: Path, form: str) -> None:
    with server("--port", "0") as url:
        coder = Coder(tmp_path / "home", folder, url if form == "openai" else None)
        if form == "anthropic":
            coder.env |= {"ANTHROPIC_BASE_URL": url.removesuffix("/v1"), "ANTHROPIC_API_KEY": "scripted"}
        ran = coder.run("-p", "run: echo built; echo all", "--mode", "yolo")
        assert (ran.code, ran.out) == (0, "done: built\n"), ran.err
        again = coder.run("-p", "write: a.txt two words", "--continue", "--mode", "yolo")
        assert coder.run("-p", "read: a.txt", "--continue").out == "done: 1\ttwo words\n"
    assert (again.code, (folder / "a.txt").read_text()) == (0, "two words"), again.err


def test_a_prompt_of_several_steps_is_understood_behind_the_todo_list_that_it_begins(
    tmp_path: Path, folder: Path
) -> None:
    with server("--port", "0") as url:
        ran = Coder(tmp_path / "home", folder, url).run(
            "-p", "run: echo one > a; echo two >> a; cat a", "--mode", "yolo"
        )
    assert (ran.code, ran.out) == (0, "done: one\n")
    assert (folder / "a").read_text() == "one\ntwo\n"


def test_a_script_file_gives_the_answers_in_turn(tmp_path: Path, folder: Path) -> None:
    file = tmp_path / "script.json"
    make = {"name": "bash", "arguments": {"command": "touch made"}}
    file.write_text(json.dumps([{"text": "on it", "calls": [make]}, {"text": "built"}]))
    with server("--script", str(file)) as url:
        ran = Coder(tmp_path / "home", folder, url).run("-p", "go", "--mode", "yolo")
    assert (ran.code, ran.out.splitlines()[-1], (folder / "made").exists()) == (0, "built", True), ran.err


def test_a_wrong_script_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "script.json"
    file.write_text('[{"txt": "typo"}]')
    done = subprocess.run([*COMMAND, "--script", str(file)], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert f"{file}: Object contains unknown field `txt` - at `$[0]`" in done.stderr
