"""Whatever people read has a form in every language, and nothing in the language files is left over."""

import argparse
import inspect
import json
import re
from collections import Counter
from functools import cache
from string import Formatter

import pytest

from coderelay.client.old_log_text_translation import tool_words
from coderelay.protocol.translation_files import LANGUAGES, LanguageFile, read_language
from tests.language.text_literals import PLACE, ROOM, Said, Unclear, records_in, said_in, strings_in
from tests.language.text_tables import TABLES, of_older_versions

_FILES = sorted(ROOM.rglob("*.py"))


@cache  # read with the first test: whoever only collects tests need not wait for it
def _calls() -> list[Said | Unclear]:
    return [each for file in _FILES for each in said_in(file, "t")]


def _said() -> list[Said]:
    return [each for each in _calls() if isinstance(each, Said)]


def _tabled() -> list[str]:
    return [text for table in TABLES.values() for text in table()]


@cache
def _records() -> dict[str, str]:
    return dict(each for file in _FILES for each in records_in(file))


class Language:
    """A language file, together with what records bring in that language."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.file: LanguageFile = read_language(name)
        self.records = _records() if name == "zh" else {}
        self.log_messages = self.file.log_messages | tool_words(name)
        self.all = self.file.texts | self.log_messages | self.records


@pytest.fixture(params=LANGUAGES[1:], scope="module")
def language(request: pytest.FixtureRequest) -> Language:
    return Language(request.param)


@pytest.mark.quick
def test_every_text_for_people_has_a_form_in_every_language(language: Language) -> None:
    told = {each.text: each.where for each in _said()} | dict.fromkeys(_tabled(), "tests/language/text_tables.py")
    told |= dict.fromkeys(_records(), "a record")
    missing = {text: where for text, where in told.items() if text not in language.file.texts | language.records}

    if missing and not language.file.complete:
        pytest.xfail(f"{len(missing)} texts are said in English")
    assert missing == {}


def test_every_language_that_is_complete_knows_the_same_log_messages(language: Language) -> None:
    others = [Language(name).log_messages for name in LANGUAGES[1:]]
    missing = {text for each in others for text in each} - language.log_messages.keys()

    if missing and not language.file.complete:
        pytest.xfail(f"{len(missing)} messages are told in English")
    assert missing == set()


def test_no_text_is_left_over(language: Language) -> None:
    wanted = {each.text for each in _said()} | set(_tabled()) | (_records().keys() - language.records.keys())

    assert sorted(language.file.texts.keys() - wanted) == []


def test_no_text_is_translated_twice(language: Language) -> None:
    assert sorted(language.file.texts.keys() & language.records.keys()) == []
    assert sorted(language.file.log_messages.keys() & tool_words(language.name).keys()) == []
    written = json.loads((ROOM / "languages" / f"{language.name}.json").read_text(), object_pairs_hook=list)
    for part in ("texts", "log_messages"):
        entries = [text for _, section in dict(written).get(part, []) for text, _ in section]
        assert [text for text, times in Counter(entries).items() if times > 1] == []


def test_what_is_given_to_t_can_be_read_off_the_code_or_is_listed() -> None:
    unclear = {each.where.partition(":")[0] for each in _calls() if isinstance(each, Unclear)}

    assert sorted(unclear - TABLES.keys()) == [], "list the table of it in tests/language/text_tables.py"
    assert sorted(TABLES.keys() - unclear) == []


def test_the_values_are_those_that_the_text_has_places_for() -> None:
    filled = [each for each in _said() if each.values]

    assert [each for each in filled if each.values != frozenset(PLACE.findall(each.text))] == []


def test_a_translated_text_has_the_places_of_the_english_one(language: Language) -> None:
    both = language.all.items()

    assert [text for text, told in both if set(PLACE.findall(told)) != set(PLACE.findall(text))] == []


def test_what_is_filled_in_can_be(language: Language) -> None:
    """Both forms are well made where anything is filled in."""
    filled = {each.text for each in _said() if each.values}
    for text, told in language.file.texts.items():
        if text in filled:
            assert list(Formatter().parse(told))
    for told in language.log_messages.values():
        assert list(Formatter().parse(told))


_COUNTED = {  # a number and a noun, put together one word at a time
    *("1 tool", "{count} tools", "1 prompt", "{count} prompts", "1 resource", "{count} resources"),
    *("1 match in 1 file", "{count} matches in 1 file", "{count} matches in {files} files"),
}
_TYPED = re.compile(
    r"`[^`]+`|(?<![\w`<>/])/[a-z][a-z-]*\b|(?<![\w-])--[a-z-]+|\b[A-Z]{3,}(?:_[A-Z]+)+\b|\bCtrl[+-][A-Z]\b"
)


def test_what_can_be_typed_is_never_translated(language: Language) -> None:
    lost = {text: set(_TYPED.findall(text)) - set(_TYPED.findall(told)) for text, told in language.all.items()}

    assert sum(bool(_TYPED.search(text)) for text in language.all) > 50 or not language.file.complete
    assert {text: typed for text, typed in lost.items() if typed} == {}


def test_no_full_width_letter_digit_or_sign_of_a_command(language: Language) -> None:
    wide = re.compile("[０-９Ａ-Ｚａ-ｚ／－＿｀＝＠！＃＄％＆＊＋～｛｝［］｜　]")

    assert [told for told in language.all.values() if wide.search(told)] == []


def test_every_log_message_is_made_of_what_stands_in_the_code(language: Language) -> None:
    """Of texts that are put together elsewhere, each fixed part must still be there."""
    ours = [text for file in _FILES for text in strings_in(file)]
    code = "\n".join([*ours, (ROOM / "models/local/offers.json").read_text(), inspect.getsource(argparse)])
    shapes = [text for text in language.log_messages if text not in _COUNTED | of_older_versions(language.name)]
    parts = {text: [part.strip(" ,;:().") for part in PLACE.split(text)[::2]] for text in shapes}

    assert {text: part for text, found in parts.items() for part in found if part not in code} == {}
