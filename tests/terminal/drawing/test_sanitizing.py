"""Nothing that others write acts on the terminal."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coderelay.surfaces.terminal.drawing.ansi_styles import without_colours
from coderelay.surfaces.terminal.drawing.calls import drawn_output
from coderelay.surfaces.terminal.drawing.sanitizing import printable
from coderelay.surfaces.terminal.drawing.width_and_truncation import cut, rows_of, width_of
from tests.terminal.drawing.colour_marks import marked

_COLOUR = re.compile(r"\x1b\[(?:0|1|3[0-7]|9[0-7]|1;3[0-7]|1;9[0-7])m")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\n中文 👍", "plain\ttext\n中文 👍"),
        ("\x1b[2J\x1b[1;1Hgone", "gone"),
        ("\x1b]0;my title\x07text", "text"),
        ("\x1b]8;;https://evil.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]52;c;aGk=\x1b\\copied", "copied"),
        ("\x1bPq#0~~\x1b\\picture", "picture"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1bc\x1b7\x1b(0x", "x"),
        ("cut off \x1b[3", "cut off 3"),
        ("\x9b2Jeight bits", "\\x9b2Jeight bits"),
        ("bell\x07 nul\x00", "bell\\x07 nul\\x00"),
        ("user\u202etxt.exe", "user\\u202etxt.exe"),
        ("soft\u2066hidden\u2069", "soft\\u2066hidden\\u2069"),
        ("tagged\U000e0041", "tagged\\U000e0041"),
        ("two\u2028lines", "two\\u2028lines"),
        ("10 %\r50 %\r100 %\r\ndone\r\n", "100 %\ndone\n"),
        ("loading...\r\x1b[K", "loading..."),
        ("N\bNA\bAM\bME\bE", "NAME"),
        ("\b\bx", "x"),
        ("می\u200cخواهم 👨\u200d👩\u200d👧", "می\u200cخواهم 👨\u200d👩\u200d👧"),
    ],
)
def test_c36_what_would_act_on_a_terminal_is_dropped_or_seen(text: str, shown: str) -> None:
    assert printable(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[32mok\x1b[0m done", "⟨32⟩ok⟨⟩ done"),
        ("\x1b[1;31mbold\x1b[22m red\x1b[39m plain", "⟨1;31⟩bold⟨⟩⟨31⟩ red⟨⟩ plain"),
        ("\x1b[31mred\nstill\x1b[m not", "⟨31⟩red⟨⟩\n⟨31⟩still⟨⟩ not"),
        ("\x1b[38;5;196mmany\x1b[48;2;1;2;3m \x1b[41mback\x1b[0m", "many back"),
        ("\x1b[7mturned\x1b[8mhidden\x1b[0m", "turnedhidden"),
        ("\x1b[91mbright\x1b[2J\x1b[999;31m red", "⟨91⟩bright⟨⟩⟨31⟩ red⟨⟩"),
    ],
)
def test_c36_of_colours_those_of_the_terminal_stay(text: str, shown: str) -> None:
    assert marked(printable(text, keep_colours=True)) == shown


_ANYTHING = st.text(st.sampled_from("a b\x1b[]0;1m38K\x07\\\r\n\b\t\x9b\x9d\u202e中\u200d👍P^_?")) | st.text()


@given(_ANYTHING)
@settings(deadline=None)
def test_c36_whatever_comes_there_is_no_control_character_left(text: str) -> None:
    assert [each for each in printable(text) if not each.isprintable() and _acts(each)] == []
    coloured = _COLOUR.sub("", printable(text, keep_colours=True))
    assert [each for each in coloured if not each.isprintable() and _acts(each)] == []


def _acts(character: str) -> bool:
    is_control = character < " " or "\x7f" <= character <= "\x9f"
    return (is_control and character not in "\n\t") or character in "\u202e\u2028"


@given(_ANYTHING, st.integers(10, 40))
@settings(deadline=None)
def test_c36_output_never_leaves_its_bar(text: str, width: int) -> None:
    rows = [without_colours(row) for row in drawn_output(text, width)]
    assert [row for row in rows if not row.startswith("│")] == []
    assert [row for row in rows if width_of(row) > width] == []


def test_a_row_ends_in_the_colour_that_the_next_one_begins_with() -> None:
    assert [marked(row) for row in rows_of("\x1b[31mabcdefgh\x1b[0mij", 5)] == ["⟨31⟩abcde⟨⟩", "⟨31⟩fgh⟨⟩ij"]


def test_a_wide_character_is_not_cut_in_two() -> None:
    assert rows_of("ab中文c", 5) == ["ab中", "文c"]


def test_what_is_cut_never_exceeds_its_room() -> None:
    assert [cut("ab中文", width) for width in range(7)] == ["", "…", "a…", "ab…", "ab…", "ab中…", "ab中文"]
