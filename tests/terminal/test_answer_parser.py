"""C-35: what is pressed or typed while something is asked."""

import pytest
from msgspec.structs import replace

from coderelay.protocol.asks import (
    Allow,
    Answers,
    Ask,
    BudgetAsk,
    Deny,
    DenyAndStop,
    PermissionAsk,
    PlanAsk,
    PlanDecision,
    QuestionAsk,
)
from coderelay.protocol.calls import Need, Option, Question
from coderelay.protocol.errors import BadInput
from coderelay.protocol.ids import AskId, CallId, SessionId
from coderelay.surfaces.terminal.answer_line_parser import AnswerParser, split_all
from coderelay.surfaces.terminal.ask_and_prompt_queues import OpenAsk
from coderelay.surfaces.terminal.ask_menu import AskMenu

COLOUR = Question("Which colour?", options=(Option("red"), Option("blue")))
SEVERAL = Question("Which ones?", options=(Option("a"), Option("b")), multi_select=True)
NAME = Question("What name?")


def permission(number: int = 1) -> PermissionAsk:
    return PermissionAsk(AskId(f"p{number}"), CallId("c"), Need("bash", "command", "make", command="make"), "it runs")


def questions(*asked: Question) -> QuestionAsk:
    return QuestionAsk(AskId("q"), CallId("c"), asked)


PLAN = PlanAsk(AskId("l"), "do it")
BUDGET = BudgetAsk(AskId("b"), "session", 1.0, 1.1, 2.0)


@pytest.mark.parametrize(
    ("ask", "keys"),
    [
        (permission(), "ynas"),
        (replace(permission(), mode="auto-edit"), "yneas"),
        (BUDGET, "yn"),
        (PLAN, "123"),
        (questions(COLOUR), "12"),
        (questions(NAME), ""),
        (questions(SEVERAL), ""),
        (questions(COLOUR, NAME), "12"),
    ],
)
def test_c35_one_key_decides_only_where_it_cannot_be_the_beginning_of_an_answer(ask: Ask, keys: str) -> None:
    menu = AskMenu(AnswerParser().current(ask))
    pressed = "".join(key for key in "yYneasx0123459 ²" if menu.has_key(key))
    assert pressed == keys


@pytest.mark.parametrize(
    ("ask", "line", "decision"),
    [
        (permission(), "y", Allow()),
        (permission(), " Yes ", Allow()),
        (permission(), "always", Allow("session")),
        (permission(), "n", Deny()),
        (permission(), "stop", DenyAndStop()),
        (BUDGET, "y", Allow()),
        (PLAN, "1", PlanDecision("smart")),
        (PLAN, "2", PlanDecision("default")),
        (PLAN, "3", PlanDecision("keep")),
        (PLAN, "4 steps are too many", PlanDecision("feedback", "4 steps are too many")),
        (PLAN, "stop", DenyAndStop()),
        (questions(COLOUR), "2", Answers({"Which colour?": "blue"})),
        (questions(COLOUR), "green", Answers({"Which colour?": "green"})),
        (questions(SEVERAL), "1,2", Answers({"Which ones?": "a, b"})),
        (questions(COLOUR), "deny", Deny()),
    ],
)
def test_c35_a_typed_line_decides(ask: Ask, line: str, decision: object) -> None:
    assert AnswerParser().take(ask, line) == decision


def test_c35_several_questions_are_answered_one_line_each() -> None:
    answering, ask = AnswerParser(), questions(COLOUR, NAME)
    assert answering.question(ask) == COLOUR
    assert answering.take(ask, "1") is None
    assert answering.question(ask) == NAME
    assert answering.take(ask, "Ada") == Answers({"Which colour?": "red", "What name?": "Ada"})


def test_an_empty_line_is_no_answer_and_what_was_answered_before_stays() -> None:
    answering, ask = AnswerParser(), questions(NAME, COLOUR)
    assert answering.take(ask, "Ada") is None
    with pytest.raises(BadInput, match="no answer"):
        answering.take(ask, " ")
    assert answering.take(ask, "2") == Answers({"What name?": "Ada", "Which colour?": "blue"})


def test_answers_to_one_ask_do_not_count_for_the_next() -> None:
    answering = AnswerParser()
    first = questions(NAME, COLOUR)
    assert answering.take(first, "Ada") is None
    other = QuestionAsk(AskId("other"), CallId("c"), (NAME, COLOUR))
    assert answering.question(other) == NAME


def test_a_refusal_of_the_first_question_refuses_them_all() -> None:
    assert AnswerParser().take(questions(NAME, COLOUR), "stop") == DenyAndStop()
    assert AnswerParser().take(questions(NAME, COLOUR), "停止") == DenyAndStop()


def test_d22_a_batch_is_answered_one_by_one_or_together() -> None:
    batch = [OpenAsk(permission(number), SessionId("s")) for number in (1, 2, 3)]
    assert split_all("y", batch) == ("y", batch[:1])
    assert split_all("y all", batch) == ("y", batch)
    assert split_all("n 全部", batch) == ("n", batch)
    assert split_all("all of it", batch) == ("all of it", batch[:1])
    plan = OpenAsk(PLAN, SessionId("s"))
    assert split_all("keep all", [plan]) == ("keep all", [plan])
