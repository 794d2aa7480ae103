"""Bytes of a terminal as keys: a paste is one key, however it comes."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.key_binding.key_processor import KeyPress
from prompt_toolkit.keys import Keys

from coderelay.surfaces.terminal.input.bracketed_paste_and_focus import PasteParser

BEGIN, END = "\x1b[200~", "\x1b[201~"


def keys_of(*pieces: str) -> list[tuple[str, str]]:
    pressed: list[KeyPress] = []
    parser = PasteParser(pressed.append)
    for piece in pieces:
        parser.feed(piece)
    return [(str(each.key), each.data) for each in pressed]


@given(st.text("ab\x1b[201~\n中", max_size=30), st.lists(st.integers(0, 60), max_size=6))
def test_a_paste_is_one_key_however_it_is_cut(pasted: str, cuts: list[int]) -> None:
    pasted = pasted.replace(END, "")
    whole = f"x{BEGIN}{pasted}{END}y"
    points = [0, *sorted(min(cut, len(whole)) for cut in cuts), len(whole)]
    pieces = [whole[start:end] for start, end in pairwise(points)]
    if END not in pasted:
        assert keys_of(*pieces) == [("x", "x"), (str(Keys.BracketedPaste), pasted), ("y", "y")]


def test_two_pastes_behind_each_other() -> None:
    paste = str(Keys.BracketedPaste)
    assert keys_of(f"{BEGIN}one{END}{BEGIN}two{END}") == [(paste, "one"), (paste, "two")]
