"""Pastes and images at the line."""

import os
from base64 import b64encode
from pathlib import Path

import pytest

from coderelay.protocol.message_content import Image
from coderelay.surfaces.terminal.input.pasted_text_and_images import Attachments, PreparedPrompt, harmless, take_paste
from tests.house import story
from tests.terminal.input.images import gif, jpeg, png, webp
from tests.terminal.input.input_line import (
    BACKSPACE,
    CTRL_A,
    CTRL_O,
    CTRL_V,
    CTRL_W,
    ENTER,
    LEFT,
    RIGHT,
    UP,
    Line,
    line,
    pasted,
)

LONG = "\n".join(f"line {number}" for number in range(2000))


async def sent(typed: Line, folder: Path) -> PreparedPrompt:
    """The last prompt, as the session would get it."""
    return await typed.attachments.prepare(typed.done[-1].removeprefix("send "), str(folder))


@pytest.mark.quick
@story
async def test_a_long_paste_is_shown_by_a_label_and_sent_in_full(tmp_path: Path) -> None:
    async with line(tmp_path) as typed:
        await typed.type("explain ", pasted(LONG), " please")
        assert typed.shown == "explain [pasted #1: 2,000 lines] please"
        await typed.type(ENTER)
        assert await sent(typed, tmp_path) == PreparedPrompt(f"explain {LONG} please")


@story
async def test_a_short_paste_is_text_and_sends_nothing_by_itself(tmp_path: Path) -> None:
    async with line(tmp_path) as typed:
        await typed.type(pasted("one\r\ntwo\rthree\n"))
        assert (typed.text, typed.done) == ("one\ntwo\nthree\n", [])


@story
async def test_a_label_goes_and_is_passed_over_as_one(tmp_path: Path) -> None:
    async with line(tmp_path) as typed:
        await typed.type("a ", pasted("x" * 1001), " b")
        assert typed.shown == "a [pasted #1: 1,001 characters] b"
        await typed.type(LEFT * 3 + "<" + RIGHT + ">")
        assert typed.shown == "a <[pasted #1: 1,001 characters]> b"
        assert typed.column == len("a <[pasted #1: 1,001 characters]>")
        await typed.type(BACKSPACE * 2)
        assert typed.shown == "a < b"


@story
async def test_a_label_is_a_word_for_ctrl_w(tmp_path: Path) -> None:
    async with line(tmp_path) as typed:
        await typed.type("keep ", pasted(LONG), CTRL_W)
        assert typed.text == "keep "


@story
async def test_pastes_are_numbered_and_the_same_one_keeps_its_number(tmp_path: Path) -> None:
    async with line(tmp_path) as typed:
        other = "x\n" * 20
        await typed.type(pasted(LONG), pasted(other), pasted(LONG))
        assert typed.shown == "[pasted #1: 2,000 lines][pasted #2: 20 lines][pasted #1: 2,000 lines]"
        await typed.type(ENTER)
        assert await sent(typed, tmp_path) == PreparedPrompt(LONG + other + LONG)


@story
async def test_a_recalled_paste_is_sent_in_full_again(tmp_path: Path) -> None:
    async with line(tmp_path) as typed:
        await typed.type("see ", pasted(LONG), ENTER, UP)
        assert typed.shown == "see [pasted #1: 2,000 lines]"
        await typed.type(ENTER)
        assert await sent(typed, tmp_path) == PreparedPrompt(f"see {LONG}")


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07done", "done"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPsecret\x1b\\after", "after"),
        ("\x9b2Jcleared", "cleared"),
        ("bell\x07 back\x08 null\x00 del\x7f", "bell back null del"),
        ("half\x1b[", "half"),
        ("中文 🎉", "中文 🎉"),
        ("ours \U00108001", "ours \ufffd"),
    ],
)
def test_what_is_pasted_does_nothing_to_the_terminal(given: str, left: str) -> None:
    assert harmless(given) == left


@story
async def test_ctrl_o_has_pastes_in_full_and_what_was_not_changed_is_a_label_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = tmp_path / "editor.sh"
    editor.write_text(f'#!/bin/sh\ncp "$1" {tmp_path}/seen; printf %s " and more" >> "$1"\n')
    os.chmod(editor, 0o755)
    monkeypatch.setenv("VISUAL", str(editor))
    async with line(tmp_path) as typed:
        await typed.type("see ", pasted(LONG))
        await typed.press(CTRL_O, lambda: typed.text.endswith("and more"))
        assert (tmp_path / "seen").read_text() == f"see {LONG}"
        assert typed.shown == "see [pasted #1: 2,000 lines] and more"


@pytest.mark.quick
@story
async def test_a_pasted_name_of_an_image_becomes_an_image(tmp_path: Path) -> None:
    data = png(640, 480, 34_000)
    (tmp_path / "shot.png").write_bytes(data)
    async with line(tmp_path) as typed:
        await typed.type("what is ", pasted(f"{tmp_path}/shot.png"), "?")
        assert typed.shown == "what is [image #1: shot.png 640x480 34 KB] ?"
        await typed.type(ENTER)
        assert await sent(typed, tmp_path) == PreparedPrompt(
            "what is [image #1: shot.png 640x480 34 KB] ?", (Image("image/png", b64encode(data).decode()),)
        )


def test_names_are_understood_as_file_managers_and_shells_write_them(tmp_path: Path) -> None:
    (tmp_path / "my shot.png").write_bytes(png(1, 2))
    (tmp_path / "b.jpg").write_bytes(jpeg(3, 4))
    there = f"{tmp_path}/my shot.png"
    for given in (
        there,
        f"'{there}'",
        f'"{there}"',
        there.replace(" ", "\\ "),
        f"file://{there.replace(' ', '%20')}",
        f"{there}\n",
    ):
        assert shown(given) == "[image #1: my shot.png 1x2 64 B] ", given
    both = f"file://{there.replace(' ', '%20')}\r\nfile://{tmp_path}/b.jpg\r\n"
    assert shown(both) == "[image #1: my shot.png 1x2 64 B] [image #2: b.jpg 3x4 50 B] "


def test_text_that_only_speaks_of_an_image_stays_text(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(png(1, 2))
    for given in (f"look at {tmp_path}/a.png", "a.png", f"{tmp_path}/none.png", f"{tmp_path}", "it's .png"):
        assert shown(given) == given


def test_what_is_no_image_or_too_big_stays_text_with_a_note(tmp_path: Path) -> None:
    (tmp_path / "text.png").write_text("not an image")
    (tmp_path / "big.png").write_bytes(png(9, 9, 4_000_000))
    attachments = Attachments()
    text = f"{tmp_path}/text.png"
    assert take_paste(text, attachments) == (
        text,
        ["text.png is not a supported image (PNG, JPEG, GIF or WebP)"],
    )
    big = f"{tmp_path}/big.png"
    assert take_paste(big, attachments) == (big, ["big.png is too large to send: 4.0 MB (limit 3.9 MB)"])


@pytest.mark.quick
@story
async def test_a_mentioned_image_is_sent_with_the_prompt(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a b.gif").write_bytes(gif(7, 8))
    (tmp_path / "c.webp").write_bytes(webp(9, 10))
    (tmp_path / "code.py").write_text("")
    prepared = await Attachments().prepare('@"docs/a b.gif" and @c.webp, not @code.py', str(tmp_path))
    assert prepared == PreparedPrompt(
        "[image #1: docs/a b.gif 7x8 20 B] and [image #2: c.webp 9x10 30 B], not @code.py",
        (
            Image("image/gif", b64encode(gif(7, 8)).decode()),
            Image("image/webp", b64encode(webp(9, 10)).decode()),
        ),
    )


@story
async def test_a_mention_that_cannot_be_sent_stays_with_a_note(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_text("text")
    prepared = await Attachments().prepare("see @a.png and @gone.png", str(tmp_path))
    assert prepared == PreparedPrompt(
        "see @a.png and @gone.png", notes=("a.png is not a supported image (PNG, JPEG, GIF or WebP)",)
    )


@story
async def test_mentions_inside_a_paste_are_not_looked_at(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(png(1, 1))
    text = "see @a.png\n" * 20
    async with line(tmp_path) as typed:
        await typed.type(pasted(text), ENTER)
        assert await sent(typed, tmp_path) == PreparedPrompt(text)


@story
async def test_bytes_that_are_no_text_can_be_sent_all_the_same(tmp_path: Path) -> None:
    assert await Attachments().prepare("a\udcffb", str(tmp_path)) == PreparedPrompt("a?b")


@story
async def test_ctrl_v_takes_the_image_of_the_clipboard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "clip").write_bytes(png(11, 12, 2000))
    _program(
        tmp_path / "bin" / "wl-paste",
        f'case "$*" in --list-types) echo text/html; echo image/png;; *image/png) cat {tmp_path}/clip;; esac',
    )
    _clipboard(monkeypatch, tmp_path)
    async with line(tmp_path) as typed:
        await typed.press(CTRL_V, lambda: bool(typed.text))
        await typed.type(CTRL_A, "see ")
        assert typed.shown == "see [image #1: clipboard 11x12 2 KB] "


@story
async def test_ctrl_v_says_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    async with line(tmp_path) as typed:
        await typed.press(CTRL_V, lambda: bool(typed.done))
        assert typed.done == [
            "hint pasting images needs wl-paste, xclip or pngpaste; you can also drag the file here or "
            "mention it with @"
        ]


@story
async def test_ctrl_v_says_that_there_is_no_image(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _program(tmp_path / "bin" / "wl-paste", "echo text/plain")
    _clipboard(monkeypatch, tmp_path)
    async with line(tmp_path) as typed:
        await typed.press(CTRL_V, lambda: bool(typed.done))
        assert typed.done == ["hint no image in the clipboard"]


def shown(given: str) -> str:
    attachments = Attachments()
    text, notes = take_paste(given, attachments)
    assert notes == []
    return attachments.plain(text)


def _program(path: Path, script: str) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    os.chmod(path, 0o755)


def _clipboard(monkeypatch: pytest.MonkeyPatch, root: Path) -> None:
    monkeypatch.setenv("PATH", f"{root}/bin:/usr/bin:/bin")
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    monkeypatch.delenv("DISPLAY", raising=False)
