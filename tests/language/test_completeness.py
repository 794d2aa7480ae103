"""Whatever people read has a Chinese form, and nothing in the dictionaries is left over."""

import argparse
import inspect
import re
from collections import Counter
from string import Formatter

import pytest

from coderelay.client.chinese import WORDS, cli, client, reasons, surfaces
from coderelay.client.chinese.elsewhere import SHAPES as SHARED
from coderelay.client.old_log_texts import tool_words
from tests.language.literals import PLACE, ROOM, Said, Unclear, records_in, said_in, strings_in
from tests.language.tables import TABLES

_FILES = [file for file in sorted(ROOM.rglob("*.py")) if "chinese" not in file.parts]
_CALLS = [each for file in _FILES for each in said_in(file, "t")]
_SAID = [each for each in _CALLS if isinstance(each, Said)]
_TABLED = [text for table in TABLES.values() for text in table()]
SHAPES = SHARED | tool_words()
_RECORDS = dict(each for file in _FILES for each in records_in(file))
_BOTH = WORDS | SHAPES | _RECORDS


@pytest.mark.quick
def test_every_text_for_people_has_a_chinese_form() -> None:
    told = {each.text: each.where for each in _SAID} | dict.fromkeys(_TABLED, "tests/language/tables.py")

    assert {text: where for text, where in told.items() if text not in WORDS} == {}


def test_no_chinese_text_is_left_over() -> None:
    assert sorted(WORDS.keys() - {each.text for each in _SAID} - set(_TABLED)) == []


def test_no_text_is_translated_twice() -> None:
    assert sorted(WORDS.keys() & _RECORDS.keys()) == []
    each_once = Counter([*client.WORDS, *surfaces.WORDS, *cli.WORDS])

    assert [text for text, times in each_once.items() if times > 1] == []
    assert [text for text in reasons.SHAPES if SHAPES[text] != reasons.SHAPES[text]] == []
    assert SHARED.keys() & tool_words().keys() == set()


def test_what_is_given_to_t_can_be_read_off_the_code_or_is_listed() -> None:
    unclear = {each.where.partition(":")[0] for each in _CALLS if isinstance(each, Unclear)}

    assert sorted(unclear - TABLES.keys()) == [], "list the table of it in tests/language/tables.py"
    assert sorted(TABLES.keys() - unclear) == []


def test_the_values_are_those_that_the_text_has_places_for() -> None:
    filled = [each for each in _SAID if each.values]

    assert [each for each in filled if each.values != frozenset(PLACE.findall(each.text))] == []


def test_a_chinese_text_has_the_places_of_the_english_one() -> None:
    assert [text for text, told in _BOTH.items() if set(PLACE.findall(told)) != set(PLACE.findall(text))] == []


def test_what_is_filled_in_can_be() -> None:
    """Both forms are well made where anything is filled in."""
    for each in _SAID:
        if each.values:
            assert list(Formatter().parse(WORDS[each.text]))
    for told in SHAPES.values():
        assert list(Formatter().parse(told))


_COUNTED = {  # a number and a noun, put together one word at a time
    *("1 tool", "{count} tools", "1 prompt", "{count} prompts", "1 resource", "{count} resources"),
    *("1 match in 1 file", "{count} matches in 1 file", "{count} matches in {files} files"),
}
_TYPED = re.compile(
    r"`[^`]+`|(?<![\w`<>/])/[a-z][a-z-]*\b|(?<![\w-])--[a-z-]+|\b[A-Z]{3,}(?:_[A-Z]+)+\b|\bCtrl[+-][A-Z]\b"
)


def test_what_can_be_typed_is_never_translated() -> None:
    lost = {text: set(_TYPED.findall(text)) - set(_TYPED.findall(told)) for text, told in _BOTH.items()}

    assert sum(bool(_TYPED.search(text)) for text in _BOTH) > 50
    assert {text: typed for text, typed in lost.items() if typed} == {}


def test_no_full_width_letter_digit_or_sign_of_a_command() -> None:
    wide = re.compile("[０-９Ａ-Ｚａ-ｚ／－＿｀＝＠！＃＄％＆＊＋～｛｝［］｜　]")

    assert [told for told in _BOTH.values() if wide.search(told)] == []


def test_every_shape_is_made_of_what_stands_in_the_code() -> None:
    """Of texts that are put together elsewhere, each fixed part must still be there."""
    ours = [text for file in _FILES for text in strings_in(file)]
    code = "\n".join([*ours, (ROOM / "models/local/offers.json").read_text(), inspect.getsource(argparse)])
    shapes = [text for text in SHAPES if text not in _COUNTED]
    parts = {text: [part.strip(" ,;:().") for part in PLACE.split(text)[::2]] for text in shapes}

    assert {text: part for text, found in parts.items() for part in found if part not in code} == {}
