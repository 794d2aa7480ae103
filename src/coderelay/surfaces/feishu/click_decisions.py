"""What a click on a card of asks decides."""

from collections.abc import Mapping
from typing import Any, cast

from coderelay.client.ask_view import parse_answer
from coderelay.client.i18n import localize
from coderelay.protocol.asks import (
    Allow,
    Answers,
    Ask,
    Decision,
    Deny,
    DenyAndStop,
    PermissionAsk,
    PlanAsk,
    PlanDecision,
    QuestionAsk,
)
from coderelay.protocol.bilingual_text import Localized
from coderelay.protocol.calls import Question
from coderelay.protocol.errors import BadInput
from coderelay.surfaces.feishu.ask_cards import is_free_text

_MISFIT = Localized("this does not answer what was asked", "此操作不能回答当前的请求")
_YES_NO = {"confirm": "yes", "cancel": "no"}


def decision_of(ask: Ask, action: str, form: Mapping[str, Any]) -> Decision:
    """The decision, or BadInput if this action does not answer this ask. `yes` and `no` are sent as a text only if
    the agent asked for a text; every other decision is typed."""
    if action == "stop":
        return DenyAndStop()
    match ask:
        case PlanAsk():
            return _plan(action, form)
        case QuestionAsk():
            if is_free_text(ask) and action in _YES_NO:
                return Answers({ask.questions[0].question: _YES_NO[action]})
            if action == "submit":
                return parse_answer(ask, [_field(each, index, form) for index, each in enumerate(ask.questions)])
            if action.startswith("option:") and len(ask.questions) == 1:
                return _option(ask.questions[0], action.removeprefix("option:"))
            raise _misfit()
        case _:
            return _permission(ask, action)


def _permission(ask: Ask, action: str) -> Decision:
    match action:
        case "confirm" | "confirm_all":
            return Allow()
        case "cancel" | "cancel_all":
            return Deny()
        case "session" if isinstance(ask, PermissionAsk):
            return Allow("session")
        case "always" if isinstance(ask, PermissionAsk):
            return Allow("project")
        case "edits" if isinstance(ask, PermissionAsk) and ask.mode is not None:
            return Allow(mode=ask.mode)
        case _:
            raise _misfit()


def _plan(action: str, form: Mapping[str, Any]) -> Decision:
    match action:
        case "plan:smart":
            return PlanDecision("smart")
        case "plan:default" | "confirm":
            return PlanDecision("default")
        case "plan:keep" | "cancel":
            return PlanDecision("keep")
        case "plan:feedback":
            feedback = _text(form.get("feedback"))
            return PlanDecision("feedback", feedback) if feedback else PlanDecision("keep")
        case _:
            raise _misfit()


def _option(question: Question, number: str) -> Answers:
    if not (number.isascii() and number.isdecimal() and 1 <= int(number[:4]) <= len(question.options)):
        raise _misfit()
    return Answers({question.question: question.options[int(number) - 1].label})


def _field(question: Question, index: int, form: Mapping[str, Any]) -> str:
    """What the form says about a question, as a person would type it: numbers of options, or their own words."""
    own = _text(form.get(f"q{index}_other"))
    chosen = form.get(f"q{index}")
    numbers = [_text(each) for each in cast("list[object]", chosen)] if isinstance(chosen, list) else [_text(chosen)]
    picked = [each for each in numbers if each]
    if not question.multi_select:
        return own or (picked[0] if picked else "")
    return ", ".join([*picked, *([own] if own else [])])


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _misfit() -> BadInput:
    return BadInput(localize(_MISFIT))
