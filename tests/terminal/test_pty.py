"""The harness itself: a terminal that can be trusted to show what a person would see."""

import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.coder_process import Coder
from tests.conftest import Serve
from tests.model_server import ModelServerThread, says, script
from tests.terminal.emulator import Emulator
from tests.terminal.pty import at_terminal

CoderOn = Callable[[ModelServerThread], Coder]

PROMPT = """\
import asyncio
from prompt_toolkit import PromptSession
from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.key_binding import KeyBindings

keys = KeyBindings()

@keys.add("escape", eager=True)
def _(event):
    run_in_terminal(lambda: print("escaped"))

async def main():
    session = PromptSession("say> ", key_bindings=keys, bottom_toolbar="a toolbar")
    while True:
        try:
            text = await session.prompt_async()
        except KeyboardInterrupt:
            print("interrupted")
            continue
        except EOFError:
            break
        print(f"{len(text.splitlines())} lines, {len(text)} characters: {text[:60]}")
    print("left")

asyncio.run(main())
"""


@pytest.fixture
def prompting(tmp_path: Path) -> tuple[Coder, tuple[str, ...]]:
    (tmp_path / "prompting.py").write_text(PROMPT)
    coder = Coder(tmp_path / "home", tmp_path, None)
    return coder, ("prompting.py",)


def fed(*pieces: str, columns: int = 10, rows: int = 4) -> Emulator:
    import pyte

    emulator = Emulator(columns, rows)
    stream = pyte.ByteStream(emulator)
    for piece in pieces:
        stream.feed(piece.encode())
    return emulator


def test_a_program_with_prompt_toolkit_is_typed_to_and_seen(prompting: tuple[Coder, tuple[str, ...]]) -> None:
    coder, program = prompting
    with at_terminal(coder, program=program, columns=40, rows=10) as terminal:
        terminal.wait_until(lambda seen: seen.cursor_row == "say>", "the prompt")
        terminal.type("你好")
        terminal.wait_until(lambda seen: seen.cursor == (9, 0), "the cursor behind two wide characters")
        terminal.press("enter")
        terminal.wait_for("1 lines, 2 characters: 你好")
        terminal.press("escape")
        terminal.wait_for("escaped")
        terminal.press("up", "enter")
        terminal.wait_until(lambda seen: seen.all_text.count("2 characters: 你好") == 2, "the line again")
        terminal.wait_until(lambda seen: seen.cursor_row == "say>", "the prompt")
        terminal.press("c-c")
        terminal.wait_for("interrupted")
        terminal.wait_until(lambda seen: seen.cursor_row == "say>", "the prompt")
        terminal.paste("\n".join(f"line {number}" for number in range(2000)))
        terminal.press("enter")
        terminal.wait_for("2000 lines, 18889 characters: line 0")
        terminal.wait_until(lambda seen: seen.cursor_row == "say>", "the prompt")
        terminal.press("c-d")
        terminal.wait_for("left")
        assert terminal.wait() == 0
    assert b"\x1b[6n" in terminal.raw, "it asked where the cursor is"


def test_a_program_is_told_of_another_size(prompting: tuple[Coder, tuple[str, ...]]) -> None:
    coder, program = prompting
    with at_terminal(coder, program=program, columns=60, rows=10) as terminal:
        terminal.wait_until(lambda seen: "a toolbar" in seen.text, "the toolbar")
        terminal.type("word " * 10)
        terminal.wait_until(lambda seen: seen.cursor[0] == 55, "all of it on one row")
        terminal.resize(30, 8)
        terminal.wait_until(lambda seen: len(seen.rows) == 8 and seen.rows[-1] == "a toolbar", "drawn at the bottom")
        terminal.wait_until(lambda seen: seen.cursor[0] == 25, "wrapped at thirty columns")


def test_coder_as_plain_lines(serve: Serve, coder_on: CoderOn) -> None:
    """What stays when the terminal can do nothing."""
    coder = coder_on(serve(script(says("hello you"))))
    with at_terminal(coder, env={"TERM": "dumb"}) as terminal:
        terminal.wait_until(lambda seen: seen.cursor_row == ">", "the prompt")
        terminal.enter("hi")
        terminal.wait_for("hello you")
        terminal.wait_until(lambda seen: seen.cursor_row == ">", "the prompt again")
        terminal.press("c-d")
        assert terminal.wait() == 0
    assert b"\x1b" not in terminal.raw


def test_what_never_comes_is_said_with_what_was_there(prompting: tuple[Coder, tuple[str, ...]]) -> None:
    coder, program = prompting
    with at_terminal(coder, program=program) as terminal:
        terminal.wait_for("say>")
        with pytest.raises(AssertionError, match=r"0 s passed before: 'never'\n│ say>"):
            terminal.wait_for("never", 0.01)
        terminal.press("c-d")
        with pytest.raises(AssertionError, match="the program ended with 0 before: 'never'"):
            terminal.wait_for("never")


def test_what_is_scrolled_away_is_kept_once_and_in_order() -> None:
    emulator = fed("".join(f"{number}\r\n" for number in range(500)), columns=5)
    assert emulator.everything() == [str(number) for number in range(500)]
    assert emulator.visible() == ["497", "498", "499"]


def test_wide_characters_wrap_whole_and_marks_join_what_is_before_them() -> None:
    emulator = fed("123456789你好\r\ne\u0301 👩\u200d💻 ♥\ufe0f!")
    assert emulator.visible() == ["123456789", "你好", "e\u0301 👩\u200d💻 ♥\ufe0f!"]
    assert emulator.everything() == ["123456789你好", "e\u0301 👩\u200d💻 ♥\ufe0f!"]


@pytest.mark.parametrize(("columns", "rows"), [(5, 4), (3, 2), (20, 10), (10, 2), (7, 9)])
def test_another_size_loses_nothing(columns: int, rows: int) -> None:
    text = "".join(f"{number} line with 宽字 in it\r\n" for number in range(9)) + "❯ typed"
    emulator = fed(text)
    before = emulator.everything()
    emulator.reflow(columns, rows)
    assert emulator.everything() == before
    assert max(map(len, emulator.visible())) <= columns
    emulator.draw("!")
    assert emulator.everything() == [*before[:-1], "❯ typed!"]
    emulator.reflow(10, 4)
    assert emulator.everything() == [*before[:-1], "❯ typed!"]


def test_what_is_drawn_over_is_no_longer_one_line() -> None:
    emulator = fed("123456789012", "\x1b[1;1H\x1b[Jab\r\ncd")
    assert emulator.everything() == ["ab", "cd"]


def test_a_terminal_answers_where_its_cursor_is() -> None:
    assert fed("ab\x1b[6n", "\r\n\x1b[6n", "1234567890\x1b[6n").answers == ["\x1b[1;3R", "\x1b[2;1R", "\x1b[2;10R"]


def test_bells_and_titles() -> None:
    emulator = fed("\x07\x1b]2;coder · working\x07\x07" + textwrap.dedent("done"))
    assert (emulator.bells, emulator.title, emulator.visible()) == (2, "coder · working", ["done"])
