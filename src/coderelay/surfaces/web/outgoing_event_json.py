"""The events that the server sends, as JSON texts. Their names, fields and sentences are those of the Cowork contract
and are never translated; fields that the contract does not have come last."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from coderelay.client.ask_view import headline
from coderelay.client.i18n import retell, speaking
from coderelay.client.views.permission_request_json import permission_payload
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
from coderelay.protocol.calls import Question
from coderelay.protocol.events import PromptAdmitted
from coderelay.protocol.ids import PromptId, SessionId
from coderelay.protocol.projected_rows import AskRow, MessageRow, Phase, Summary
from coderelay.protocol.translatable import Translatable, encode_plain
from coderelay.protocol.translation_files import LANGUAGES

UNKNOWN_SESSION = "Unknown session"
ABORTED = "Session aborted"
STATUSES: dict[Phase, str] = {
    "idle": "idle",
    "running": "running",
    "waiting": "running",
    "done": "completed",
    "failed": "error",
    "stopped": "idle",
    "deleted": "idle",
}
Payload = dict[str, Any]
_encode = msgspec.json.Encoder(enc_hook=encode_plain).encode


def event_text(kind: str, payload: Mapping[str, Any]) -> str:
    return _encode({"type": kind, "payload": payload}).decode()


def runner_error(message: str, session: str | None = None, *, request: str | None) -> str:
    """`request` is the id that the client gave its request."""
    payload: Payload = {"message": message} if session is None else {"message": message, "sessionId": session}
    return event_text("runner.error", payload | retold(message) | ({} if request is None else {"requestId": request}))


def session_list(sessions: Sequence[Summary], *, whole: bool, more: Callable[[Summary], Payload]) -> str:
    """`more` gives what the server knows of a session besides its log."""
    payload: Payload = {"sessions": [session_row(each) | more(each) for each in sessions]}
    return event_text("session.list", payload if whole else payload | {"whole": False})


def session_row(summary: Summary) -> Payload:
    row: Payload = {
        "id": summary.id,
        "title": summary.title,
        "status": STATUSES[summary.phase],
        "cwd": summary.cwd,
        "createdAt": summary.created_at,
        "updatedAt": summary.updated_at,
    }
    if summary.agent_session_id is not None:
        row["claudeSessionId"] = summary.agent_session_id
    return row | _more_of(summary)


def _more_of(summary: Summary) -> Payload:
    return {
        "seq": summary.head,
        "agent": summary.agent,
        "model": summary.model,
        "mode": summary.mode,
        "think": summary.think,
        "folders": summary.folders,
        "allowedTools": ",".join(summary.allowed_tools),
        "lastPrompt": summary.last_prompt,
        "openAsks": summary.open_asks,
        "queued": summary.queued,
        "resume": resume_command(summary),
        "usage": summary.usage,
        "costUsd": summary.cost,
        "contextTokens": summary.context_tokens,
        **(
            {}
            if summary.error is None
            else {"error": summary.error, "errorRetold": retold(summary.error).get("retold", {})}
        ),
        **({"parked": True} if summary.open_asks and summary.owner is None else {}),
    }


def resume_command(summary: Summary) -> Payload:
    """How to continue the session in a terminal: with us, and with the agent's own program, which knows its own id
    only. `problem` says why that program cannot."""
    ours = {"coder": f"coder resume {summary.id}"}
    if summary.agent != "claude":
        return ours
    if summary.agent_session_id is None:
        return ours | {"problem": "the agent has no session id yet"}
    return ours | {"agent": f"claude --resume {summary.agent_session_id}"}


def session_history(
    summary: Summary,
    rows: Sequence[MessageRow],
    seq: int,
    queue: Sequence[PromptAdmitted],
    decided: Sequence[AskRow],
    more: Payload,
) -> str:
    """`queue` are the prompts that wait, with the fields of `prompt.queued`; `decided` are the asks that are not open
    any more, with those of `permission.resolved`; `more` is what the server knows of the session besides its log."""
    payload = {
        "sessionId": summary.id,
        "status": STATUSES[summary.phase],
        "messages": [msgspec.Raw(row.data.encode()) for row in rows],
        "seq": seq,
        "session": session_row(summary) | more,
        "queue": [{"promptId": each.prompt_id, "prompt": each.typed_text, "steer": each.steer} for each in queue],
        "decisions": [_resolution(each) for each in decided],
    }
    return event_text("session.history", payload)


def ask_tool(ask: Ask) -> str:
    """The id that stands for the tool use. An ask that belongs to no call has its own id there."""
    return ask.id if ask.call_id is None else ask.call_id


def ask_fields(ask: Ask, use: Payload | None, cwd: str) -> Payload:
    """The fields of a `permission.request` besides the session's. `use` is the tool use that is asked about, as its
    message has it."""
    name, shown, more = _shown(ask, use, cwd)
    fields: Payload = {"toolUseId": ask_tool(ask), "toolName": name, "input": shown, "askId": ask.id, **more}
    return fields if ask.deadline is None else fields | {"deadline": ask.deadline}


def _shown(ask: Ask, use: Payload | None, cwd: str) -> tuple[str, Payload, Payload]:
    match ask:
        case QuestionAsk():
            return ask.external_name, {"questions": [_question(each) for each in ask.questions]}, {"kind": "question"}
        case PlanAsk():
            return ask.external_name, {"plan": ask.plan}, {"kind": "plan"}
        case PermissionAsk():
            known: Payload = {"name": ask.need.tool, "input": {}} if use is None else use
            more = {
                "kind": "permission",
                "title": ask.need.title,
                "reason": ask.reason,
                **retold(ask.reason, ask.said),
                **permission_payload(ask.need, cwd),
                **({} if ask.mode is None else {"offersMode": ask.mode}),
            }
            return known["name"], known["input"], more
        case _:
            asked = ask.yes_no
            happened, translated = in_all_languages(lambda: headline(ask))
            kind = "budget" if isinstance(ask, BudgetAsk) else "permission"  # only the budget has a kind of its own
            more = {"kind": kind, "title": asked.title or happened, "reason": happened, **translated}
            return ask.external_name, asked.external_input, more


def _question(question: Question) -> Payload:
    """The contract lets a question have more fields, never fewer."""
    return {
        "question": question.question,
        "header": question.header,
        "options": [{"label": each.label, "description": each.description} for each in question.options],
        "multiSelect": question.multi_select,
    }


def decision_fields(decision: Decision | None) -> Payload:
    """What was decided, in the words of `permission.response`; without a decision, the turn ended before one."""
    match decision:
        case None:
            return {"behavior": "deny", "message": ABORTED}
        case Allow():
            more = {} if decision.mode is None else {"mode": decision.mode}
            return {"behavior": "allow", "scope": decision.scope} | more
        case Answers():
            return {"behavior": "allow", "answers": decision.answers}
        case Deny():
            return {"behavior": "deny", "message": decision.message}
        case DenyAndStop():
            return {"behavior": "deny_and_stop"}
        case PlanDecision():
            return {"behavior": "plan", "option": decision.option, "feedback": decision.feedback}


def session_accepted(session: SessionId, prompt_id: PromptId, request_id: str) -> str:
    return event_text("session.accepted", {"sessionId": session, "promptId": prompt_id, "requestId": request_id})


def resolution_for_late_answer(session: SessionId, row: AskRow) -> str:
    """For the client whose answer came too late: what was decided, and by whom."""
    return event_text("permission.resolved", {"sessionId": session, **_resolution(row), "late": True})


def _resolution(row: AskRow) -> Payload:
    who = {"by": "", "via": ""} if row.by is None else {"by": row.by.who, "via": row.by.via}
    return {"toolUseId": ask_tool(row.ask), **decision_fields(row.decision), **who, "askId": row.ask.id}


def in_session(session: SessionId, fields: Payload) -> Payload:
    return {"sessionId": session} | fields


def retold(text: str, said: Translatable | None = None) -> dict[str, dict[str, str]]:
    """The field `retold`: the text by language, as far as there are translations. It is the same for all clients, so
    that an event is encoded once."""
    found: dict[str, str] = {}
    for language in LANGUAGES:
        with speaking(language):
            told = retell(text, said)
            if told == text:
                told = "\n".join(map(retell, text.split("\n")))
        if told != text:
            found[language] = told
    return {"retold": found} if found else {}


def in_all_languages(tell: Callable[[], str]) -> tuple[str, dict[str, dict[str, str]]]:
    """What `tell` says in English, and the field `retold` with what it says in other languages."""
    found: dict[str, str] = {}
    for language in LANGUAGES:
        with speaking(language):
            found[language] = tell()
    english = found.pop("en")
    others = {language: told for language, told in found.items() if told != english}
    return english, {"retold": others} if others else {}
