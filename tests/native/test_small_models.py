"""What a small model is told: its first request, and what follows a call that failed."""

import json
from pathlib import Path

import pytest

from coderelay.agents.native.workflow.read_files_named_in_prompt import named_files
from tests.config.config_files import Places
from tests.house import house, story
from tests.model_server import Body, says, script
from tests.native.model_requests import check_snapshot, readable

CARD = {"context": 8192, "output": 1024, "calls": "schema"}


def configure(root: Path) -> None:
    Places(root).write({"providers": {"openai": {"models": {"scripted": CARD}}}})


def use(tool: str, **arguments: str) -> str:
    """As small models like to write it, over many lines."""
    return json.dumps({"tool": tool, "arguments": arguments}, indent=2)


def said(body: Body) -> list[str]:
    return [message["content"] for message in body["messages"][1:]]


def tools_offered(body: Body) -> list[str]:
    calls = body["response_format"]["json_schema"]["schema"]["anyOf"]
    return [each["properties"]["tool"]["const"] for each in calls]


@pytest.mark.quick
@story
async def test_the_first_request_to_a_small_model(tmp_path: Path) -> None:
    """C-12: no automatic todo list for it, however long the request."""
    configure(tmp_path)
    async with house(tmp_path, script(says(use("finish", answer="done")))) as coder:
        (coder.folder / "tax.py").write_text("TAX = 19\n")
        await coder.create("yolo")
        await coder.prompt("Refactor all of tax.py: 1. rename TAX, 2. add tests, 3. document it.")
        await coder.ended()
        check_snapshot("first_request_small.txt", readable(coder.server.requests[0], coder.folder))


@story
async def test_a_small_model_goes_on_in_the_form_of_the_example(tmp_path: Path) -> None:
    """Calls come back on one line, and files that it made itself are no news between two steps."""
    configure(tmp_path)
    steps = [use("write", path="a.txt", content="a\n"), use("finish", answer="done")]
    async with house(tmp_path, script(*map(says, steps))) as coder:
        await coder.create("yolo")
        await coder.prompt("Write a.txt.")
        await coder.ended()
        _, call, result = said(coder.server.requests[1])
        assert call == '{"tool": "write", "arguments": {"path": "a.txt", "content": "a\\n"}}'
        assert result.startswith("Result of write: created a.txt (1 line)\n\nUse the next tool.")


@story
async def test_files_that_the_prompt_names_are_read_before_a_small_model_is_asked(tmp_path: Path) -> None:
    """It changed them unread, or guessed what they say. What it writes then needs no second read."""
    configure(tmp_path)
    steps = [use("write", path="list.txt", content="figs\npears\n"), use("finish", answer="done")]
    async with house(tmp_path, script(*map(says, steps))) as coder:
        (coder.folder / "list.txt").write_text("figs\n")
        await coder.create("yolo")
        await coder.prompt("在list.txt末尾加上pears。")
        await coder.ended()
        (asked,) = said(coder.server.requests[0])
        assert asked.endswith(
            '在list.txt末尾加上pears。\n\n<workflow>\nread {"path":"list.txt"}\n1\tfigs\n</workflow>'
        )
        assert (coder.folder / "list.txt").read_text() == "figs\npears\n"


@story
async def test_two_named_files_are_read_one_after_the_other(tmp_path: Path) -> None:
    configure(tmp_path)
    async with house(tmp_path, script(says(use("finish", answer="done")))) as coder:
        for name in ("a.txt", "b.txt"):
            (coder.folder / name).write_text(f"{name}!\n")
        await coder.create("yolo")
        await coder.prompt("What is in a.txt and b.txt?")
        await coder.ended()
        (asked,) = said(coder.server.requests[0])
        assert asked.endswith(
            '<workflow>\nread {"path":"a.txt"}\n1\ta.txt!\n</workflow>\n\n'
            '<workflow>\nread {"path":"b.txt"}\n1\tb.txt!\n</workflow>'
        )


def test_only_a_few_short_files_beneath_the_folder_are_read_for_a_small_model(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    (folder / "src").mkdir(parents=True)
    for name in ("a.txt", "b.txt", "c.txt", "d.txt", ".env", "src/x.py", "../outside.txt"):
        (folder / name).write_text("x\n")
    (folder / "long.txt").write_text("x" * 5000)
    (folder / "empty.txt").touch()
    assert named_files("Compare a.txt with `b.txt`, then (src/x.py).", str(folder)) == ["a.txt", "b.txt", "src/x.py"]
    assert named_files("a.txt b.txt c.txt d.txt", str(folder)) == [], "too many"
    for none in ("a long.txt", "empty.txt", "src", ".env", "../outside.txt", f"{folder}/a.txt", "what? no.txt", ""):
        assert named_files(none, str(folder)) == []


@story
async def test_a_small_model_is_told_that_a_call_that_failed_has_done_nothing(tmp_path: Path) -> None:
    configure(tmp_path)
    steps = [use("bash", command="mv a.txt nowhere/b.txt"), use("finish", answer="done")]
    async with house(tmp_path, script(*map(says, steps))) as coder:
        await coder.create("yolo")
        await coder.prompt("Move it.")
        await coder.ended()
        assert said(coder.server.requests[1])[-1].endswith("Use the next tool to do it in another way.")


@story
async def test_a_small_model_that_goes_back_and_forth_must_use_another_tool(tmp_path: Path) -> None:
    configure(tmp_path)
    look, run = use("bash", command="echo look"), use("bash", command="echo run")
    steps = [look, run, look, run, use("finish", answer="done")]
    async with house(tmp_path, script(*map(says, steps))) as coder:
        await coder.create("yolo")
        await coder.prompt("Do it.")
        await coder.ended()
        assert [tools_offered(each) for each in coder.server.requests] == [
            *[["read", "list", "write", "bash", "finish"]] * 4,
            ["read", "list", "write", "finish"],
        ]


@story
async def test_a_small_model_wrote_again_what_it_had_written_before_it_read_the_file(tmp_path: Path) -> None:
    configure(tmp_path)
    steps = [
        use("write", path="list.txt", content="pears\n"),
        use("read", path="list.txt"),
        use("write", path="list.txt", content="figs\npears\n"),
        use("finish", answer="done"),
    ]
    async with house(tmp_path, script(*map(says, steps))) as coder:
        (coder.folder / "list.txt").write_text("figs\n")
        await coder.create("yolo")
        await coder.prompt("Add pears to the list.")
        await coder.ended()
        _, failed, why, _, content = said(coder.server.requests[2])
        assert failed == '{"tool": "write", "arguments": {"path": "list.txt"}}'
        assert why.startswith("Result of write: Error: list.txt exists and you have not read it")
        assert content.startswith("Result of read: figs\n\nUse the next tool."), "without line numbers"
        assert said(coder.server.requests[3])[-2] == (
            '{"tool": "write", "arguments": {"path": "list.txt", "content": "figs\\npears\\n"}}'
        )
        assert (coder.folder / "list.txt").read_text() == "figs\npears\n"
