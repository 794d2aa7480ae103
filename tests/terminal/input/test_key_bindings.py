"""Keys at the line, as bytes of a terminal."""

import os
from pathlib import Path

import pytest

from coderelay.protocol.modes import next_mode_by_key
from coderelay.protocol.session_setting_values import Mode
from tests.house import story
from tests.terminal.input.input_line import (
    ALT_ENTER,
    CTRL_C,
    CTRL_D,
    CTRL_L,
    CTRL_O,
    CTRL_R,
    DOWN,
    ENTER,
    ESC,
    LEFT,
    NEWLINE,
    SHIFT_TAB,
    UP,
    line,
    pasted,
)


@pytest.mark.quick
@story
async def test_c20_enter_sends_and_ctrl_d_sends_or_leaves(tmp_path: Path) -> None:
    async with line(tmp_path) as typed:
        await typed.type("hello" + ENTER, "again" + CTRL_D)
        assert typed.done == ["send hello", "send again"]
        assert typed.text == ""
        await typed.type(CTRL_D)
        assert typed.done[2:] == ["leave"]


@story
async def test_c20_enter_behind_a_backslash_alt_enter_and_ctrl_j_begin_a_new_line(tmp_path: Path) -> None:
    async with line(tmp_path) as typed:
        await typed.type("one\\" + ENTER, "two" + ALT_ENTER, "three" + NEWLINE, "four" + ENTER)
        assert typed.done == ["send one\ntwo\nthree\nfour"]


@story
async def test_a_backslash_in_the_middle_of_a_line_does_not_keep_it_from_being_sent(tmp_path: Path) -> None:
    async with line(tmp_path) as typed:
        await typed.type("a\\b" + LEFT + ENTER)
        assert typed.done == ["send a\\b"]


@pytest.mark.quick
@story
async def test_ctrl_c_clears_then_interrupts_then_leaves_when_pressed_twice(tmp_path: Path) -> None:
    async with line(tmp_path) as typed:
        typed.done.busy = True
        await typed.type("text" + CTRL_C)
        assert (typed.text, typed.done) == ("", [])
        await typed.type(CTRL_C)
        assert typed.done == ["interrupt"]
        typed.done.busy = False
        await typed.press(CTRL_C + CTRL_C, lambda: "leave" in typed.done)
        assert typed.done == ["interrupt", "hint Press Ctrl+C again to exit; the session is kept", "leave"]


@story
async def test_ctrl_c_twice_with_another_key_in_between_does_not_leave(tmp_path: Path) -> None:
    async with line(tmp_path) as typed:
        await typed.type(CTRL_C + LEFT + CTRL_C)
        assert typed.done == ["hint Press Ctrl+C again to exit; the session is kept"] * 2


@pytest.mark.quick
@story
async def test_escape_interrupts_a_turn_and_keeps_the_text(tmp_path: Path) -> None:
    async with line(tmp_path) as typed:
        typed.done.busy = True
        await typed.type("half a thought")
        await typed.press(ESC, lambda: typed.done == ["interrupt"])
        assert typed.text == "half a thought"


@story
async def test_escape_twice_clears_the_line(tmp_path: Path) -> None:
    async with line(tmp_path) as typed:
        await typed.type("half a thought")
        await typed.press(ESC, lambda: typed.done == ["hint Press Esc again to clear the input"])
        assert typed.text == "half a thought"
        await typed.press(ESC, lambda: typed.text == "")


@story
async def test_escape_twice_in_an_empty_line_goes_back_to_an_earlier_prompt(tmp_path: Path) -> None:
    async with line(tmp_path) as typed:
        typed.done.turns = True
        await typed.press(ESC, lambda: typed.done == ["hint Press Esc again to go back to an earlier prompt"])
        await typed.press(ESC, lambda: typed.done[1:] == ["rewind"])


@story
async def test_escape_twice_with_another_key_in_between_clears_nothing(tmp_path: Path) -> None:
    async with line(tmp_path) as typed:
        await typed.type("half a thought")
        await typed.press(ESC, lambda: len(typed.done) == 1)
        await typed.type(LEFT)
        await typed.press(ESC, lambda: len(typed.done) == 2 or typed.text == "")
        assert typed.text == "half a thought"


@story
async def test_both_escapes_at_once_clear_the_line(tmp_path: Path) -> None:
    async with line(tmp_path) as typed:
        await typed.type("half a thought")
        await typed.press(ESC + ESC, lambda: typed.text == "")


@story
async def test_shift_tab_and_ctrl_l_are_passed_on(tmp_path: Path) -> None:
    async with line(tmp_path) as typed:
        await typed.type(SHIFT_TAB, CTRL_L)
        assert typed.done == ["cycle mode", "clear screen"]


@pytest.mark.parametrize(
    ("mode", "after"),
    [("default", "auto-edit"), ("auto-edit", "plan"), ("plan", "default"), ("yolo", "default")],
)
def test_c05_modes_are_cycled_through_without_yolo(mode: Mode, after: Mode) -> None:
    assert next_mode_by_key(mode) == after


@pytest.mark.quick
@story
async def test_c35_single_keys_answer_only_an_open_ask_and_only_on_an_empty_line(tmp_path: Path) -> None:
    async with line(tmp_path) as typed:
        await typed.type("y")
        assert (typed.text, typed.done) == ("y", [])
        typed.done.asks = True
        await typed.type("n")
        assert (typed.text, typed.done) == ("yn", [])
        await typed.type(CTRL_C, "y", "s", "x")
        assert (typed.text, typed.done) == ("x", ["answer y", "answer s"])


@story
async def test_c35_a_pasted_letter_answers_nothing(tmp_path: Path) -> None:
    async with line(tmp_path) as typed:
        typed.done.asks = True
        await typed.type(pasted("y"))
        assert (typed.text, typed.done) == ("y", [])


@story
async def test_x08_up_on_an_empty_line_takes_a_waiting_prompt_back(tmp_path: Path) -> None:
    async with line(tmp_path) as typed:
        await typed.type("before" + ENTER)
        typed.done.waiting = True
        await typed.type(UP)
        assert (typed.text, typed.done) == ("", ["send before", "recall"])
        typed.done.waiting = False
        await typed.type(UP)
        assert typed.text == "before"


@story
async def test_an_open_list_is_moved_in_and_the_history_left_alone(tmp_path: Path) -> None:
    async with line(tmp_path) as typed:
        await typed.type("before" + ENTER)
        typed.done.has_list = True
        await typed.type(DOWN, UP)
        assert (typed.text, typed.done[1:]) == ("", ["move 1", "move -1"])


@story
async def test_up_moves_within_several_lines_and_then_through_the_history(tmp_path: Path) -> None:
    async with line(tmp_path) as typed:
        await typed.type("first" + ENTER, "two\\" + ENTER + "lines")
        await typed.type(UP)
        assert typed.text == "two\nlines"
        await typed.type(UP)
        assert typed.text == "first"
        await typed.type(DOWN)
        assert typed.text == "two\nlines"


@story
async def test_ctrl_r_finds_what_was_typed_before_and_enter_takes_it_without_sending(tmp_path: Path) -> None:
    async with line(tmp_path) as typed:
        await typed.type("run the tests" + ENTER, "something else" + ENTER)
        await typed.type(CTRL_R, "the te", ENTER)
        assert (typed.text, len(typed.done)) == ("run the tests", 2)
        await typed.type(ENTER)
        assert typed.done[2:] == ["send run the tests"]


@story
async def test_what_is_not_worth_remembering_is_not_in_the_history(tmp_path: Path) -> None:
    async with line(tmp_path) as typed:
        await typed.type("a prompt" + ENTER)
        typed.done.remembers = False
        await typed.type("no answer" + ENTER, UP)
        assert typed.text == "a prompt"


@story
async def test_ctrl_o_opens_the_text_in_an_editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _editor(tmp_path, monkeypatch, 'tr a-z A-Z < "$1" > "$1.new" && mv "$1.new" "$1" && echo >> "$1"')
    async with line(tmp_path) as typed:
        await typed.type("louder\\" + ENTER + "please")
        await typed.press(CTRL_O, lambda: typed.text == "LOUDER\nPLEASE")


@story
async def test_an_editor_that_fails_leaves_the_text_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    editor = _editor(tmp_path, monkeypatch, 'echo gone > "$1"; exit 3')
    async with line(tmp_path) as typed:
        await typed.type("stays")
        await typed.press(CTRL_O, lambda: bool(typed.done))
        assert typed.done == [f"hint {editor} exited with code 3; the text is unchanged"]
        assert typed.text == "stays"


def _editor(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> Path:
    program = folder / "editor.sh"
    program.write_text(f"#!/bin/sh\n{script}\n")
    os.chmod(program, 0o755)
    monkeypatch.setenv("VISUAL", str(program))
    return program
