"""Questions of an agent as one form (`elicitation/create`), for clients that have forms."""

from typing import Any, cast

from coderelay.acp.update_payloads import Fields
from coderelay.client.i18n import t
from coderelay.protocol.asks import Answers, Decision, Deny, QuestionAsk
from coderelay.protocol.calls import Question
from coderelay.protocol.text_escaping_and_width import visible

_OWN_WORDS = "_custom"


def question_form(ask: QuestionAsk) -> Fields:
    """The parameters of the request, without the session."""
    one = ask.questions[0].question if len(ask.questions) == 1 else t("The agent has questions.")
    properties: Fields = {}
    for number, question in enumerate(ask.questions):
        properties |= _properties(f"question_{number}", question)
    schema: Fields = {"type": "object", "properties": properties}
    required = [f"question_{number}" for number, question in enumerate(ask.questions) if not question.options]
    if required:
        schema["required"] = required
    return {"mode": "form", "toolCallId": ask.call_id, "message": visible(one), "requestedSchema": schema}


def form_decision(ask: QuestionAsk, result: Any) -> Decision | None:
    """The decision in the client's answer; None if the answer is not usable."""
    said = cast("Fields", result) if isinstance(result, dict) else {}
    match said.get("action"):
        case "accept":
            content: object = said.get("content")
            return _answers(ask, cast("Fields", content)) if isinstance(content, dict) else None
        case "decline" | "cancel":
            return Deny()
        case _:
            return None


def _properties(key: str, question: Question) -> Fields:
    about = {"title": visible(question.header or question.question), "description": visible(question.question)}
    if not question.options:
        return {key: {"type": "string", **about}}
    choices = [{"const": each.label, "title": _choice(each.label, each.description)} for each in question.options]
    chosen: Fields = (
        {"type": "array", "items": {"anyOf": choices}, **about}
        if question.multi_select
        else {"type": "string", "oneOf": choices, **about}
    )
    hint = t("If you write something here, it is used instead of your choice.")
    own = {
        "type": "string",
        "title": t("Another answer"),
        "description": hint,
    }
    return {key: chosen, f"{key}{_OWN_WORDS}": own}


def _choice(label: str, description: str) -> str:
    return visible(f"{label} ({description})" if description else label)


def _answers(ask: QuestionAsk, content: Fields) -> Decision | None:
    found: dict[str, str] = {}
    for number, question in enumerate(ask.questions):
        key = f"question_{number}"
        given = content.get(f"{key}{_OWN_WORDS}") or content.get(key)
        listed = cast("list[Any]", given) if isinstance(given, list) else [given]
        if not listed or not all(isinstance(each, str) and each.strip() for each in listed):
            return None
        found[question.question] = ", ".join(map(str, listed))
    return Answers(found)
