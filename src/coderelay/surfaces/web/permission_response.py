"""The answer to an ask, as `permission.response` has it."""

from typing import Any, cast

import msgspec

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
from coderelay.protocol.errors import BadInput
from coderelay.protocol.translatable import say
from coderelay.surfaces.web.client_event_types import AllowResult, DenyResult, PlanResult, StopResult

Result = AllowResult | DenyResult | StopResult | PlanResult


def no_such_ask(name: str) -> BadInput:
    return BadInput(say("there is no open request {name} in this session", name=repr(name)))


def decision_of(ask: Ask, result: Result, request: str | None) -> Decision:
    """`request` is the `permission.request` that the client was shown. Raises BadInput if the result does not fit the
    ask; the ask then stays open."""
    match result:
        case DenyResult():
            return Deny(result.message)
        case StopResult():
            return DenyAndStop()
        case PlanResult():
            return PlanDecision(_option(result), result.feedback)
        case AllowResult():
            return _allowed(ask, result, request)


def _option(result: PlanResult) -> Any:
    if (result.option is None) == (result.approved is None):
        raise BadInput('a decision on a plan has either "option" or "approved"')
    if result.option is not None:
        return result.option
    if result.approved:
        return "default"
    return "feedback" if result.feedback.strip() else "keep"


def _allowed(ask: Ask, result: AllowResult, request: str | None) -> Decision:
    match ask:
        case QuestionAsk():
            return Answers(_answers(result.updated_input))
        case PlanAsk():
            return PlanDecision("default")
        case PermissionAsk():
            if result.updated_input and result.updated_input != _shown_input(request):
                raise BadInput(
                    "the input of a tool cannot be changed with the permission",
                    "Allow it as it is, or deny it and say what to do instead.",
                )
            return Allow(result.scope, result.mode)
        case _:
            return Allow()


def _answers(updated: dict[str, Any] | None) -> dict[str, str]:
    given: object = (updated or {}).get("answers")
    if not isinstance(given, dict):
        raise BadInput('questions are answered with updatedInput.answers: {"the question": "the answer"}')
    answers = cast("dict[str, object]", given)
    if not all(isinstance(each, str) for each in answers.values()):
        raise BadInput("each answer is a text; several choices are joined by a comma")
    return cast("dict[str, str]", answers)


def _shown_input(request: str | None) -> object:
    return None if request is None else msgspec.json.decode(request)["payload"]["input"]
