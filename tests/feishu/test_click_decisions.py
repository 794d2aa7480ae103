"""What a button decides, kind of ask by kind of ask."""

from typing import Any

import pytest

from coderelay.protocol.asks import Allow, Answers, Ask, Decision, Deny, DenyAndStop, PlanDecision, QuestionAsk
from coderelay.protocol.calls import Option, Question
from coderelay.protocol.errors import BadInput
from coderelay.protocol.ids import AskId, CallId
from coderelay.surfaces.feishu.access_rules import needs_owner
from coderelay.surfaces.feishu.click_decisions import decision_of
from tests.feishu.test_chat_status import BUDGET, NEED, PERMISSION, PLAN, QUESTION

pytestmark = pytest.mark.quick

RED_BLUE = (Option("red"), Option("blue"))
COLOUR = QuestionAsk(AskId("a5"), CallId("c5"), (Question("Which colour?", options=RED_BLUE),))
SEVERAL = QuestionAsk(AskId("a6"), CallId("c6"), (Question("Which?", options=RED_BLUE, multi_select=True),))
TWO = QuestionAsk(AskId("a7"), CallId("c7"), (Question("Which colour?", options=RED_BLUE), Question("Name?")))
EDIT = type(PERMISSION)(AskId("a8"), CallId("c8"), NEED, "", mode="auto-edit")


@pytest.mark.parametrize(
    ("ask", "action", "form", "decision"),
    [
        (PERMISSION, "confirm", {}, Allow()),
        (PERMISSION, "cancel", {}, Deny()),
        (PERMISSION, "session", {}, Allow("session")),
        (PERMISSION, "always", {}, Allow("project")),
        (PERMISSION, "stop", {}, DenyAndStop()),
        (EDIT, "edits", {}, Allow(mode="auto-edit")),
        (BUDGET, "confirm", {}, Allow()),
        (BUDGET, "cancel", {}, Deny()),
        (PLAN, "plan:smart", {}, PlanDecision("smart")),
        (PLAN, "plan:default", {}, PlanDecision("default")),
        (PLAN, "plan:keep", {}, PlanDecision("keep")),
        (PLAN, "plan:feedback", {"feedback": " smaller steps "}, PlanDecision("feedback", "smaller steps")),
        (PLAN, "plan:feedback", {}, PlanDecision("keep")),
        (COLOUR, "option:2", {}, Answers({"Which colour?": "blue"})),
        (COLOUR, "submit", {"q0_other": "green"}, Answers({"Which colour?": "green"})),
        (COLOUR, "submit", {"q0_other": "1"}, Answers({"Which colour?": "red"})),
        (SEVERAL, "submit", {"q0": ["1", "2"]}, Answers({"Which?": "red, blue"})),
        (SEVERAL, "submit", {"q0": ["2"], "q0_other": "green"}, Answers({"Which?": "blue, green"})),
        (TWO, "submit", {"q0": "2", "q1_other": "Eve"}, Answers({"Which colour?": "blue", "Name?": "Eve"})),
        (QUESTION, "stop", {}, DenyAndStop()),
    ],
)
def test_a_click_decides(ask: Ask, action: str, form: dict[str, Any], decision: Decision) -> None:
    """X-06: decisions are typed."""
    assert decision_of(ask, action, form) == decision


@pytest.mark.parametrize(("action", "text"), [("confirm", "yes"), ("cancel", "no")])
def test_e15_x06_yes_and_no_are_text_only_for_an_agent_that_asked_for_text(action: str, text: str) -> None:
    assert decision_of(QUESTION, action, {}) == Answers({"Which?": text})
    with pytest.raises(BadInput):
        decision_of(COLOUR, action, {})


@pytest.mark.parametrize(
    ("ask", "action", "form"),
    [
        (PERMISSION, "", {}),
        (PERMISSION, "yolo", {}),
        (PERMISSION, "edits", {}),
        (PERMISSION, "option:1", {}),
        (BUDGET, "session", {}),
        (BUDGET, "always", {}),
        (PLAN, "session", {}),
        (COLOUR, "option:0", {}),
        (COLOUR, "option:3", {}),
        (COLOUR, "option:x", {}),
        (COLOUR, "option:１", {}),
        (COLOUR, "submit", {}),
        (COLOUR, "submit", {"q0_other": ["red"]}),
        (SEVERAL, "submit", {"q0": [1, None]}),
        (TWO, "submit", {"q0": "1"}),
        (TWO, "option:1", {}),
        (QUESTION, "submit", {"q0_other": "  "}),
    ],
)
def test_what_is_no_answer_is_refused(ask: Ask, action: str, form: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        decision_of(ask, action, form)


@pytest.mark.parametrize(
    ("decision", "is_needed"),
    [
        (Allow(), False),
        (Allow("session"), False),
        (Allow("project"), True),
        (Allow("person"), True),
        (Allow(mode="auto-edit"), True),
        (PlanDecision("default"), False),
        (PlanDecision("smart"), True),
        (Deny(), False),
        (DenyAndStop(), False),
    ],
)
def test_x38_what_loosens_more_than_a_session_needs_the_owner(decision: Decision, is_needed: bool) -> None:
    assert needs_owner(decision) is is_needed
