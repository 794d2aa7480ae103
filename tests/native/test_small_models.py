"""What a small model is told: its first request, and what follows a call that failed."""

import json
from pathlib import Path

import pytest

from tests.config.written import Places
from tests.house import house, story
from tests.model_server import Body, says, script
from tests.native.requests import check_snapshot, readable

CARD = {"context": 8192, "output": 1024, "calls": "schema"}


def configure(root: Path) -> None:
    Places(root).write({"providers": {"openai": {"models": {"scripted": CARD}}}})


def use(tool: str, **arguments: str) -> str:
    """As small models like to write it, over many lines."""
    return json.dumps({"tool": tool, "arguments": arguments}, indent=2)


def said(body: Body) -> list[str]:
    return [message["content"] for message in body["messages"][1:]]


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
        await coder.prompt("Add pears to list.txt.")
        await coder.ended()
        _, failed, why, _, content = said(coder.server.requests[2])
        assert failed == '{"tool": "write", "arguments": {"path": "list.txt"}}'
        assert why.startswith("Result of write: Error: list.txt exists and you have not read it")
        assert content.startswith("Result of read: figs\n\nUse the next tool."), "without line numbers"
        assert said(coder.server.requests[3])[-2] == (
            '{"tool": "write", "arguments": {"path": "list.txt", "content": "figs\\npears\\n"}}'
        )
        assert (coder.folder / "list.txt").read_text() == "figs\npears\n"
