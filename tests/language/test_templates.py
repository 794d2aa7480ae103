"""Texts for people carry their template and values; nothing of ours is recognised by its English."""

import ast
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from coderelay.client.i18n import retell, speak
from coderelay.client.old_log_text_translation import recognise, tool_words
from coderelay.policy.secrets.masking import Secrets
from coderelay.protocol.autorun_files import AUTORUN_FILES, PACKAGE_JSON
from coderelay.protocol.calls import CallId, Denied, Failed, Finished, one_line
from coderelay.protocol.errors import BadInput, UnknownSession
from coderelay.protocol.event_codec import decode, encode, kind_of
from coderelay.protocol.events import CallEnded, TurnEnded
from coderelay.protocol.ids import MessageId, TurnId
from coderelay.protocol.translatable import Sentence, Translatable, join_texts, say, template_of, with_template
from coderelay.protocol.translation_files import read_language
from tests.language.text_literals import PLACE, ROOM, Said, parsed, said_in
from tests.language.text_tables import of_older_versions

_FILES = sorted(ROOM.rglob("*.py"))
_CHINESE = read_language("zh")
TEMPLATES = _CHINESE.log_messages | tool_words("zh")
_FOR_MODELS = {"session/model_messages.py", "workspace/sandbox/sandbox_probe.py"}
"""Files with texts that are like one of ours, but that people are not told."""

_TABLES = {each.why for each in AUTORUN_FILES} | {PACKAGE_JSON, "{first}; {rest}", "{first}, {rest}"}
_COUNTED = {"{count} tools", "{count} prompts", "{count} resources"}
_ARGPARSE = {
    "the following arguments are required: {names}",
    "unrecognized arguments: {words}",
    "argument {name}: {problem}",
    "invalid choice: {given} (choose from {choices})",
    "invalid {kind} value: {given}",
    "ignored explicit argument {given}",
}
_DATA = {"small offline model: {name}"}
"""Of models/local/offers.json."""


@pytest.fixture
def chinese(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """With the fallback for old logs out of reach."""

    def recognise(text: str, language: str) -> str:
        raise AssertionError(f"a text without a template: {text}")

    monkeypatch.setattr("coderelay.client.template_translation.recognise", recognise)
    speak("zh")
    yield
    speak("en")


def stored(event: CallEnded | TurnEnded) -> CallEnded | TurnEnded:
    found = decode(kind_of(event), encode(event))
    assert isinstance(found, type(event))
    return found


def test_a_text_with_a_template_is_an_ordinary_english_text() -> None:
    text = say("{path} has only {count} lines", path="a.py", count=5)
    assert text == "a.py has only 5 lines"
    assert text.said == Translatable("{path} has only {count} lines", {"path": "a.py", "count": "5"})
    assert str(BadInput(text, say("Did you mean {name}?", name="b"))) == "a.py has only 5 lines\nDid you mean b?"
    assert msgspec.json.encode(Failed(text).message) == b'"a.py has only 5 lines"'


@pytest.mark.usefixtures("chinese")
def test_an_outcome_of_the_log_is_told_by_its_template() -> None:
    """Whatever the values hold, be it words of another template."""
    path = "a; b already exists; read it first"
    outcomes = (
        Finished("…", say("{count} lines", count=3)),
        Failed(f"{(head := say('{path} is a folder', path=path))}\nand more", said=head.said),
        Failed(say("{path} is a folder", path=path), say("{path} is a folder", path=path)),
        Denied(say("{tool} changes files ({reason})", tool="write", reason=say("{mode} mode", mode="plan"))),
        Denied(join_texts("; ", ["it removes files", say("it writes to {path}", path="x, y")])),
    )
    events = [CallEnded(batch_id=MessageId("m"), call_id=CallId("c"), outcome=each) for each in outcomes]
    told = [retell(one_line(found.outcome)) for each in events if isinstance(found := stored(each), CallEnded)]
    assert told == [
        "3 行",
        "a; b already exists; read it first 是目录",
        "a; b already exists; read it first 是目录",
        "未获允许：write 会改动文件，模式为 plan",
        "未获允许：它会删除文件；它会写入 x, y",
    ]


@pytest.mark.usefixtures("chinese")
def test_an_error_of_the_log_is_told_with_its_hint() -> None:
    ended = stored(TurnEnded(turn_id=TurnId("t"), ending="failed", error=str(UnknownSession("s"))))
    assert isinstance(ended, TurnEnded)
    assert retell(ended.error or "", ended.said) == "没有会话 's'\n`coder sessions` 列出所有会话。"


def test_a_log_from_before_templates_is_read_and_told() -> None:
    body = b'{"kind":"call.ended","batch_id":"m","call_id":"c","outcome":{"type":"denied","message":"plan mode"}}'
    event = decode("call.ended", body)
    assert isinstance(event, CallEnded)
    assert event.outcome == Denied("plan mode")
    speak("zh")
    try:
        assert retell(one_line(event.outcome)) == "未获允许：模式为 plan"
    finally:
        speak("en")


def test_a_text_that_was_reworded_is_still_told_from_an_older_log() -> None:
    speak("zh")
    rule = Translatable("a rule denies {rule}", {"rule": "rm"})
    assert retell("a rule denies rm", rule) == "有规则拒绝 rm"
    assert retell("a rule denies rm") == "有规则拒绝 rm"
    assert retell("the agent did not ask") == "代理没有询问"
    speak("en")


def test_a_template_that_belongs_to_another_text_is_not_used() -> None:
    said = say("{path} is a folder", path="a").said
    assert isinstance(with_template("a is a folder", said), Sentence)
    assert template_of(with_template("b is a folder", said)) is None
    assert with_template("x", Translatable("{gone} {}", {})) == "x"


def test_a_secret_is_not_kept_in_the_values_of_a_template() -> None:
    secrets = Secrets(["h8Kd2mWqh8Kd2mWq"])
    for text in ("no", "h8Kd2mWqh8Kd2mWq"):
        said = say("{path} is a folder", path=text)
        hidden = [secrets.hide_outcome(each) for each in (Failed(said), Failed(said, said), Finished("", said))]
        assert all((each.said is None) == (text != "no") for each in hidden if isinstance(each, Failed | Finished))
        assert "h8Kd2mWq" not in msgspec.json.encode(hidden).decode()


def test_no_text_of_ours_is_put_together_without_its_template() -> None:
    """An f-string with the fixed parts of a template would be English for everybody."""
    templates = {
        tuple(PLACE.split(text)[::2]): text for text in TEMPLATES if any(map(str.isalpha, PLACE.sub("", text)))
    }
    found = [
        (str(file.relative_to(ROOM)), templates[parts])
        for file in _FILES
        if str(file.relative_to(ROOM)) not in _FOR_MODELS
        for parts in _put_together(file)
        if parts in templates
    ]
    assert found == []


def test_every_template_is_said_somewhere() -> None:
    said = {each.text for file in _FILES for each in said_in(file) if isinstance(each, Said)}
    placed = {text for text in TEMPLATES if PLACE.search(text)}
    assert sorted(placed - said - _TABLES - _COUNTED - _ARGPARSE - of_older_versions("zh") - _DATA) == []


def test_whatever_is_said_has_a_chinese_form_and_its_values() -> None:
    said = [each for file in _FILES for each in said_in(file, "say") if isinstance(each, Said)]
    assert len(said) > 150
    assert {each.where for each in said if each.text not in TEMPLATES | _CHINESE.texts} == set()
    assert [each for each in said if each.values != frozenset(PLACE.findall(each.text))] == []


def test_the_fallback_knows_the_templates_by_their_fixed_parts_only() -> None:
    assert recognise("a.py has only 5 lines", "zh") == "a.py 只有 5 行"
    assert recognise("write changes files (auto-edit mode)", "zh") == "write 会改动文件，模式为 auto-edit"
    assert recognise("the file is not open in write mode", "zh") == "the file is not open in write mode"
    assert recognise("who knows; nobody: not at all", "zh") == "who knows; nobody: not at all"


def _put_together(file: Path) -> Iterator[tuple[str, ...]]:
    for node in ast.walk(parsed(file)):
        if isinstance(node, ast.JoinedStr):
            parts = [""]
            for each in node.values:
                if isinstance(each, ast.Constant):
                    parts[-1] += str(each.value)
                else:
                    parts.append("")
            yield tuple(parts)
