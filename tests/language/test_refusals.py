"""Whatever a refusal or an outcome says has a template, or is a text that the language files know."""

from functools import cache
from pathlib import Path

from coderelay.client.old_log_text_translation import tool_words
from coderelay.protocol.translation_files import read_language
from tests.language.refusal_texts import RefusalTexts, Written
from tests.language.text_tables import of_older_versions

_CHINESE = read_language("zh")
_KNOWN = (_CHINESE.texts | _CHINESE.log_messages | tool_words("zh")).keys() - of_older_versions("zh")
_SURFACES = ("client/", "cli/", "surfaces/")
"""Rooms whose texts are in the language of the person already when they are put together."""
_NOT_OURS = {
    "testing/": "no part of the product",
    "host/child_sessions.py: f'{head}{said}{note}'": "its template is in the field `said`",
    "host/child_sessions.py: f'${ended.cost:.4f}'": "an amount",
    "host/hooks/hook_output.py: text[:_LONGEST - 1] + '…'": "the words of a hook",
    "models/api_errors.py: ' '.join(": "the words of a server",
    "models/api_errors.py: f'{line[:_SHOWN - 1]}…'": "the words of a server",
    "protocol/errors.py: f'{message}\\n{detail}'": "the detail is for the model; the template is in `summary`",
    "protocol/ids.py: f'  {each}'": "an id",
    "session/unfinished_call_outcomes.py: ', '.join(answers.values())": "the words of a person",
    "tools/editing/file_changes.py: f'+{": "numbers",
    "tools/mcp/mcp_tool.py: '\\n'.join(texts)": "the words of a server",
    "tools/mcp/server_status_and_prompt_text.py: '\\n\\n'.join(contents)": "the words of a server",
    "tools/read.py: 'a notebook": "part of the output for the model",
    "tools/read.py: f'only the first": "part of the output for the model",
    "tools/toolbox.py: f'{text[:head]}": "part of the output for the model",
    "workspace/trees/undo.py: f'{error.filename}: {error.strerror}'": "the words of the operating system",
}
"""What reaches no person, or has no words of ours, by its file and its beginning, with the reason."""


@cache
def _written() -> list[Written]:
    return RefusalTexts().written


def test_every_text_of_a_refusal_or_an_outcome_can_be_translated() -> None:
    english = [
        _shown(each)
        for each in _written()
        if not _is_excepted(each) and each.text not in _KNOWN and not (each.text is None and _is_joined(each))
    ]

    assert english == [], "write say(…), and add the text to languages/zh.json"


def test_every_exception_is_still_there() -> None:
    shown = list(map(_shown, _written()))

    assert [start for start in _NOT_OURS if not any(each.startswith(start) for each in shown)] == []


_WAYS = """
from coderelay.other import RETURNED, refuse

class Stuck(CoderError):
    def __init__(self, message: str, why: str = "by default") -> None:
        super().__init__(message)
        self.why = why

CONSTANT = "a constant"

def told(is_short: bool):
    return "a result" if is_short else ("not this", "a part of a result")[1]

def pair():
    return 1, "the second of two"

def stop(name: str, given: str) -> None:
    words = "a variable"
    words = words or told(True)
    number, second = pair()
    if given:
        raise Stuck(f"put together with {name}")
    if number:
        raise Stuck(second, CONSTANT)
    if words:
        raise Stuck(words)
    raise Stuck(given, RETURNED)

def start():
    stop("not a text", "from a caller")
    refuse("from another file")
    Failed(say("{path} is {what}", path="a/b.py", what="among the values"), summary="a summary")
    Failed("in " + "pieces")
    notes.append("a note")
"""
_OTHER = """
RETURNED = "a constant of another file"

def refuse(why: str) -> None:
    raise NotReadOnly(why)
"""


def test_a_text_is_found_whichever_way_it_comes(tmp_path: Path) -> None:
    (tmp_path / "ways.py").write_text(_WAYS)
    (tmp_path / "other.py").write_text(_OTHER)

    assert {each.text or each.code for each in RefusalTexts(tmp_path).written} == {
        *("by default", "a constant", "a result", "the second of two", "f'put together with {name}'", "a variable"),
        *("from a caller", "a constant of another file", "from another file", "among the values", "a summary"),
        *("'in ' + 'pieces'", "a note"),
    }


def _is_joined(written: Written) -> bool:
    return written.where.startswith(_SURFACES) and not any(map(str.isalpha, written.fixed))


def _is_excepted(written: Written) -> bool:
    return _shown(written).startswith(tuple(_NOT_OURS))


def _shown(written: Written) -> str:
    return f"{written.where.partition(':')[0]}: {written.code}"
