"""What was typed is there again: in other sessions, beside other processes, whatever happened to the file."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from coderelay.surfaces.terminal.input.history import (
    MOST,
    HistoryEntry,
    TypedHistory,
    append_entry,
    read_entries,
    shorten,
)
from coderelay.surfaces.terminal.input.pasted_text_and_images import Attachments
from tests.house import story
from tests.terminal.input.input_line import DOWN, ENTER, UP, line, pasted


def remembered(file: Path, folder: str = "/work") -> list[str]:
    """The latest first, as a new process would offer it."""
    return list(TypedHistory(str(file), folder, Attachments()).load_history_strings())


@pytest.mark.quick
@story
async def test_history_is_kept_across_sessions_with_all_lines(tmp_path: Path) -> None:
    async with line(tmp_path) as typed:
        await typed.type("first" + ENTER, "two\\" + ENTER + "lines" + ENTER)
    async with line(tmp_path) as typed:
        await typed.until(lambda: len(typed.buffer.history.get_strings()) == 2)
        await typed.type(UP)
        assert typed.text == "two\nlines"
        await typed.type(UP, UP)
        assert typed.text == "first"
        await typed.type(DOWN)
        assert typed.text == "two\nlines"
    assert (tmp_path / "history").stat().st_mode & 0o777 == 0o600


@story
async def test_what_was_typed_here_comes_before_what_was_typed_elsewhere(tmp_path: Path) -> None:
    for folder, text in (("/here", "one"), ("/there", "two"), ("/here", "three"), ("/there", "four")):
        async with line(tmp_path, folder=folder) as typed:
            await typed.type(text + ENTER)
    assert remembered(tmp_path / "history", "/here") == ["three", "one", "four", "two"]


@story
async def test_what_begins_with_a_space_is_not_kept_and_repetitions_are_kept_once(tmp_path: Path) -> None:
    async with line(tmp_path) as typed:
        await typed.type("again" + ENTER, "again" + ENTER, " my token is secret" + ENTER, "again" + ENTER)
        assert typed.done[2] == "send  my token is secret"
    assert "secret" not in (tmp_path / "history").read_text()
    assert remembered(tmp_path / "history") == ["again"]


@story
async def test_a_paste_is_a_label_in_the_next_session_too(tmp_path: Path) -> None:
    long = "x\n" * 50
    async with line(tmp_path) as typed:
        await typed.type("see ", pasted(long), ENTER)
    async with line(tmp_path) as typed:
        await typed.until(lambda: len(typed.buffer.history.get_strings()) == 1)
        await typed.type(UP)
        assert typed.shown == "see [pasted #1: 50 lines]"
        assert (await typed.attachments.prepare(typed.text, "/")).text == f"see {long}"


def test_broken_lines_are_passed_over(tmp_path: Path) -> None:
    file = tmp_path / "history"
    good = json.dumps({"text": "good", "folder": "/work", "time": 1, "new": True})
    file.write_bytes(b"\xff\xfe\n{}\n[1]\n" + good.encode() + b'\n{"text": "to')
    append_entry(str(file), HistoryEntry("after", "/work", 2))
    assert remembered(file) == ["after", "good"]


def test_a_history_that_cannot_be_written_harms_nobody(tmp_path: Path) -> None:
    (tmp_path / "history").mkdir()
    append_entry(str(tmp_path / "history"), HistoryEntry("text", "/work", 1))
    shorten(str(tmp_path / "history"))
    assert remembered(tmp_path / "history") == []


def test_a_file_that_has_become_too_long_is_shortened_when_it_is_read(tmp_path: Path) -> None:
    file = tmp_path / "history"
    entries = [HistoryEntry(f"entry {number}", "/work", number) for number in range(MOST + 501)]
    file.write_text("".join(json.dumps({"text": e.text, "folder": e.folder, "time": e.time}) + "\n" for e in entries))
    assert remembered(file) == [each.text for each in reversed(entries[-MOST:])]
    assert list(read_entries(str(file))) == entries[-MOST:]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["history"]
    assert file.stat().st_mode & 0o777 == 0o600


_WRITER = """
import sys
from coderelay.surfaces.terminal.input.history import HistoryEntry, append_entry, shorten
file, name = sys.argv[1:]
for number in range(200):
    append_entry(file, HistoryEntry(f"{name} {number} " + "x" * 2000, "/work", number))
    shorten(file)
"""


def test_two_who_write_and_shorten_at_once_lose_nothing(tmp_path: Path) -> None:
    file = tmp_path / "history"
    writers = [subprocess.Popen([sys.executable, "-c", _WRITER, str(file), name]) for name in ("a", "b")]
    assert [each.wait(100) for each in writers] == [0, 0]
    words = [each.text.split()[:2] for each in read_entries(str(file))]
    for name in ("a", "b"):
        assert [number for who, number in words if who == name] == [str(number) for number in range(200)]
    assert os.listdir(tmp_path) == ["history"]
