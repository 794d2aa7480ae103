"""A new language begins as a file with all texts in English.

`CODER_NEW_LANGUAGE=fr` writes `languages/fr.json`, and `web/src/language/fr.json` for the web app. If a file is there
already, what it lacks is added.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from coderelay.client.old_log_text_translation import tool_words
from coderelay.protocol.translation_files import read_language
from tests.language.text_literals import ROOM, records_in

_FOLDER = ROOM / "languages"
_PAGE = ROOM.parents[1] / "web" / "src" / "language"


def test_a_file_for_a_new_language_has_all_that_chinese_has() -> None:
    found = _new_file({})
    if name := os.environ.get("CODER_NEW_LANGUAGE"):
        _write(_FOLDER / f"{name}.json", _new_file(_read(_FOLDER / f"{name}.json")))
        _write(_PAGE / f"{name}.json", _in_english(_read(_PAGE / "zh.json"), _read(_PAGE / f"{name}.json")))

    chinese = read_language("zh")
    assert set(_merged(found["texts"])) == chinese.texts.keys() | _records().keys()
    assert set(_merged(found["log_messages"])) == chinese.log_messages.keys() | tool_words("zh").keys()
    assert set(found["answers"]) == set(chinese.answers.values())
    assert all(text == told for part in ("texts", "log_messages") for text, told in _merged(found[part]).items())


def _new_file(there: dict[str, Any]) -> dict[str, Any]:
    """What Chinese has in its file, in records and in the specs of tools; `there` is what is translated already."""
    chinese = json.loads((_FOLDER / "zh.json").read_text())
    texts, translated = {**chinese["texts"], "records": _records()}, _merged(there.get("texts", {}))
    log_messages = {**chinese["log_messages"], "tools": tool_words("zh")}
    told = _merged(there.get("log_messages", {}))
    return {
        "complete": there.get("complete", False),
        "separators": {mark: mark for mark in chinese["separators"]} | there.get("separators", {}),
        "answers": {english: [] for english in chinese["answers"]} | there.get("answers", {}),
        "texts": {name: _in_english(section, translated) for name, section in texts.items()},
        "log_messages": {name: _in_english(section, told) for name, section in log_messages.items()},
    }


def _records() -> dict[str, str]:
    return dict(each for file in sorted(ROOM.rglob("*.py")) for each in records_in(file))


def _in_english(texts: Iterable[str], translated: dict[str, str]) -> dict[str, str]:
    return {text: translated.get(text, text) for text in texts}


def _merged(sections: dict[str, dict[str, str]]) -> dict[str, str]:
    return {text: told for section in sections.values() for text, told in section.items()}


def _read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text()) if path.exists() else {}


def _write(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n")
