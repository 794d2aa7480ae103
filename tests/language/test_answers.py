"""Answers in Chinese mean what they say, for every kind of ask and whatever language is spoken."""

from collections.abc import Generator

import pytest

from coderelay.client.ask_view import choices, parse_answer
from coderelay.client.i18n import retell, speak, t
from coderelay.client.typed_answer_parser import ANSWER_WORDS, agrees, refuses
from coderelay.protocol.asks import (
    Allow,
    Answers,
    Ask,
    BudgetAsk,
    Decision,
    Deny,
    DenyAndStop,
    PermissionAsk,
    PlanAsk,
    PlanDecision,
    QuestionAsk,
)
from coderelay.protocol.calls import Need, Option, Question
from coderelay.protocol.errors import BadInput
from coderelay.protocol.ids import AskId, CallId
from coderelay.protocol.translation_files import LANGUAGES, read_language

PERMISSION = PermissionAsk(AskId("1"), CallId("c"), Need("bash", "command", "make", command="make"), "it runs")
BUDGET = BudgetAsk(AskId("2"), "session", spent=1.5, limit=1.0, until=2.0)
PLAN = PlanAsk(AskId("3"), "1. look", CallId("c"))
QUESTION = QuestionAsk(AskId("4"), CallId("c"), (Question("要继续吗？"),))
OFFERS = QuestionAsk(AskId("5"), CallId("c"), (Question("怎么办？", options=(Option("停止"), Option("继续"))),))


@pytest.mark.parametrize(
    ("ask", "words", "decision"),
    [
        (PERMISSION, ("y", "Y", "ｙ", "是", "好", "允许", "同意", "确认", " 允许 "), Allow()),
        (PERMISSION, ("always", "总是", "始终", "总是允许", "始终允许"), Allow("session")),
        (PERMISSION, ("n", "ｎ", "否", "不", "拒绝", "取消"), Deny()),
        (PERMISSION, ("stop", "停止"), DenyAndStop()),
        (BUDGET, ("是", "好", "允许"), Allow()),
        (BUDGET, ("否", "不", "拒绝"), Deny()),
        (BUDGET, ("停止",), DenyAndStop()),
        (PLAN, ("smart", "智能"), PlanDecision("smart")),
        (PLAN, ("default", "默认", "是", "好", "允许", "批准"), PlanDecision("default")),
        (PLAN, ("keep", "保持", "否", "不", "拒绝"), PlanDecision("keep")),
        (PLAN, ("s", "停止"), DenyAndStop()),
        (PLAN, ("不要删除文件",), PlanDecision("feedback", "不要删除文件")),
        (QUESTION, ("拒绝", "deny"), Deny()),
        (QUESTION, ("停止", "stop"), DenyAndStop()),
        (QUESTION, ("不",), Answers({"要继续吗？": "不"})),
        (OFFERS, ("停止", "1", "１"), Answers({"怎么办？": "停止"})),
        (OFFERS, ("拒绝",), Deny()),
    ],
)
def test_c35_chinese_words_are_answers(ask: Ask, words: tuple[str, ...], decision: Decision) -> None:
    assert [parse_answer(ask, [word]) for word in words] == [decision] * len(words)


@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_c35_a_word_of_a_language_stands_for_one_english_word(language: str) -> None:
    file = read_language(language)
    answers = file.answers

    assert answers or not file.complete
    assert {word: english for word, english in answers.items() if english not in ANSWER_WORDS} == {}
    for ask in (PERMISSION, BUDGET, PLAN):
        for word, english in answers.items():
            assert _decided(ask, word) == _decided(ask, english), "another language has this word too"


def _decided(ask: Ask, word: str) -> Decision | None:
    try:
        decision = parse_answer(ask, [word])
    except BadInput:
        return None
    return None if isinstance(decision, PlanDecision) and decision.option == "feedback" else decision


@pytest.mark.parametrize("words", ["", "不知道", "允许吗", "总"])
def test_silence_and_doubt_are_no_consent(words: str) -> None:
    for ask in (PERMISSION, BUDGET):
        with pytest.raises(BadInput):
            parse_answer(ask, [words])
    assert not agrees(words)


def test_only_a_plain_refusal_is_meant_for_all_questions() -> None:
    assert [word for word in ("拒绝", "停止", "Deny", "不", "否", "no") if refuses(word)] == ["拒绝", "停止", "Deny"]


@pytest.fixture
def chinese() -> Generator[None]:
    speak("zh")
    yield
    speak("en")


@pytest.mark.usefixtures("chinese")
def test_what_is_put_together_elsewhere_is_known_by_its_shape() -> None:
    told = {
        "it removes files": "它会删除文件",
        "it asks for network access; it removes files": "它请求网络访问；它会删除文件",
        "bash runs a command (default mode)": "bash 会执行命令，模式为 default",
        "the last turn cannot be undone: git is not installed": "上一回合无法撤销：没有安装 git",
        "3 tools, 1 prompt": "3 个工具，1 个提示",
        "not allowed: edit changes files (plan mode)": "未获允许：edit 会改动文件，模式为 plan",
        "2 of 3 done, now: plan mode": "已完成 2 / 3，正在进行：plan mode",
        "no such folder: /a\nnot ours": "目录 /a 不存在\nnot ours",
        "exit code 0, 1.2 s": "退出码 0，1.2 秒",
        "the text to replace is not in a.py; the nearest place is line 3:": "a.py 中没有 old；最接近的是第 3 行：",
        "a b does not exist": "a b 不存在",
        "bad arguments for read: Object missing required field `path`; it takes path, offset, limit": (
            "read 的参数有误：Object missing required field `path`；它接受 path, offset, limit"
        ),
        "OPENAI_API_KEY in ~/.codex/auth.json": "OPENAI_API_KEY，来自 ~/.codex/auth.json",
        "not allowed: the plan is not approved yet; stay in plan mode and go on planning": (
            "未获允许：计划尚未批准；请留在 plan 模式并继续计划"
        ),
        "cannot write a.py: Permission denied": "a.py 无法写入：Permission denied",
    }
    assert {text: retell(text) for text in told} == told


@pytest.mark.usefixtures("chinese")
def test_what_nobody_knows_stays_as_it_is() -> None:
    for text in (
        "",
        "something of theirs",
        "one or other",
        "something in passing",
        "it removes files, and more",
        "many files",
        "{odd} {}",
        "x" * 5000,
    ):
        assert retell(text) == text
    assert t("a text that nobody has translated {n}", n=1) == "a text that nobody has translated 1"


def test_english_is_what_stands_in_the_code() -> None:
    assert retell("it removes files") == "it removes files"
    assert choices(PERMISSION) == "Allow? y / n / a(lways) / s(top)"
