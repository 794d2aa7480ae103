"""Open asks as `session/request_permission`. An ask that is answered elsewhere closes its request, and an answer of
the client is an answer like any other: the first one counts."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Literal, cast

from msgspec import Struct
from msgspec.structs import replace

from coderelay.acp.update_payloads import Fields, fenced, in_content, text_block, tool_call_update
from coderelay.client.ask_view import AskOption, full_text, parse_answer, view_of
from coderelay.client.ask_view import headline as headline_of
from coderelay.client.i18n import t
from coderelay.protocol.asks import (
    Allow,
    Answers,
    Ask,
    Decision,
    DenyAndStop,
    PermissionAsk,
    PlanAsk,
    PlanDecision,
    QuestionAsk,
)
from coderelay.protocol.commands import AnswerAsk
from coderelay.protocol.errors import CoderError
from coderelay.protocol.ids import AskId, SessionId
from coderelay.protocol.modes import stricter_mode
from coderelay.protocol.session_setting_values import Mode
from coderelay.protocol.text_escaping_and_width import visible
from coderelay.surfaces.editor.connection_context import ConnectionContext
from coderelay.surfaces.editor.session_updates import SessionUpdates
from coderelay.wire.messages_and_errors import NoAnswer, PeerLost, RpcError

log = logging.getLogger(__name__)

OptionKind = Literal["allow_once", "allow_always", "reject_once", "reject_always"]
_KINDS: dict[str, OptionKind] = {
    "y": "allow_once",
    "e": "allow_always",
    "a": "allow_always",
    "n": "reject_once",
    "s": "reject_always",
    "smart": "allow_always",
    "default": "allow_once",
    "keep": "reject_once",
    "stop": "reject_always",
    "deny": "reject_once",
}
"""The kinds of the answers that ask_text offers. Any other answer is one to a question. Nobody remembers a refusal,
so `reject_always` is the stronger refusal that there is, the one that also stops the turn; its name says so."""


class _NotAnswered(Exception):
    """The client has no answer that counts; the ask stays open."""


class _Open(Struct, frozen=True):
    session: SessionId
    task: asyncio.Task[None]


class PermissionRequests:
    """`session` is the session that the client knows; the asks may be of its children. Options that would lead into a
    mode freer than `max_mode` are not offered. `send` sends an update of the session."""

    def __init__(
        self,
        context: ConnectionContext,
        session: SessionId,
        updates: SessionUpdates,
        max_mode: Mode,
        send: Callable[[Fields], None],
    ) -> None:
        self._client = context.client
        self._by = context.by
        self._peer = context.peer
        self._dialect = context.dialect
        self._send = send
        self._session = session
        self._updates = updates
        self._max_mode: Mode = max_mode
        self._known: set[AskId] = set()
        self._open: dict[AskId, _Open] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    def open(self, session: SessionId, ask: Ask) -> None:
        """Show an ask in the client, unless it was shown already."""
        if ask.id in self._known:
            return
        self._known.add(ask.id)
        task = asyncio.get_running_loop().create_task(
            self._put(session, ask, is_shown=self._updates.knows(ask.call_id))
        )
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self._open[ask.id] = _Open(session, task)

    async def close(self, *asks: AskId) -> None:
        """These asks were answered, or nobody waits for them any more. Requests that the client has not answered are
        taken back before anything else is sent."""
        found = [self._open.pop(ask) for ask in asks if ask in self._open]
        for each in found:
            each.task.cancel()
        if found:
            await asyncio.wait([each.task for each in found])

    async def close_all(self, session: SessionId) -> None:
        await self.close(*[ask for ask, found in self._open.items() if found.session == session])

    async def stop(self) -> None:
        """Take back all requests; the asks stay open."""
        await self.close(*self._open)
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _put(self, session: SessionId, ask: Ask, *, is_shown: bool) -> None:
        try:
            decision = await self._decision(ask)
        except PeerLost:
            return
        except (_NotAnswered, NoAnswer, RpcError) as error:
            log.warning("an ask was not answered in the editor: %s", error)
            self._tell_open(ask, error)
            return
        finally:
            if not is_shown:
                self._settle(ask)
        self._open.pop(ask.id, None)  # from here on, it is an answer like any other
        try:
            await self._client.send(AnswerAsk(session=session, ask=ask.id, decision=decision, by=self._by))
        except CoderError:
            log.exception("an answer of the editor was refused")

    def _tell_open(self, ask: Ask, error: Exception) -> None:
        self._open.pop(ask.id, None)
        if not isinstance(error, _NotAnswered):
            error = _NotAnswered(t("The editor could not show the question: {problem}.", problem=error))
        told = t("{problem} Answer it elsewhere: coder answer {id}", problem=error, id=ask.id)
        self._send(self._updates.notice(told))

    def _settle(self, ask: Ask) -> None:
        """Close the tool call in the editor that only the permission request has shown."""
        self._send(tool_call_update(_call(ask), "completed"))

    async def _decision(self, ask: Ask) -> Decision:
        """Raises _NotAnswered, RpcError and NoAnswer."""
        decision = await self._dialect.decide(self._peer, self._session, ask)
        if decision is not None and self._is_within(decision):
            return decision
        if not isinstance(ask, QuestionAsk):
            return await self._chosen(ask)
        answers: dict[str, str] = {}
        for question in ask.questions:
            decision = await self._chosen(replace(ask, questions=(question,)))
            if not isinstance(decision, Answers):
                return decision
            answers |= decision.answers
        return Answers(answers)

    async def _chosen(self, ask: Ask) -> Decision:
        options = self._options(ask)
        params: Fields = {
            "sessionId": self._session,
            "toolCall": self._tool_call(ask),
            "options": [self._option_fields(each) for each in options],
        }
        chosen = _outcome(
            await self._peer.send_request("session/request_permission", self._dialect.permission(params))
        )
        if chosen is None:
            return DenyAndStop()
        answer = next((each.answer for each in options if self._dialect.option_id(each) == chosen), None)
        if answer is None:
            raise _NotAnswered(t("The editor gave an answer that was not offered: {answer}.", answer=repr(chosen)))
        return parse_answer(ask, [answer])

    def _option_fields(self, option: AskOption) -> Fields:
        """A question's own answers are numbers."""
        name = option.label if not option.meaning else f"{option.label} ({option.meaning})"
        kind = _KINDS.get(option.answer, "allow_once")
        return {"optionId": self._dialect.option_id(option), "name": name, "kind": kind}

    def _options(self, ask: Ask) -> list[AskOption]:
        offered = list(view_of(ask).options)
        if isinstance(ask, QuestionAsk):
            return [*offered, AskOption("", t("No answer"), "deny"), AskOption("", t("No, and stop"), "stop")]
        within = [each for each in offered if self._is_within(parse_answer(ask, [each.answer]))]
        return [replace(each, meaning="") for each in within]  # it says what to type in a terminal

    def _is_within(self, decision: Decision) -> bool:
        """Whether a decision leads into no mode that a client may not choose."""
        mode = decision.mode if isinstance(decision, Allow | PlanDecision) else None
        return mode is None or stricter_mode(mode, self._max_mode) == mode

    def _tool_call(self, ask: Ask) -> Fields:
        """All fields of the call, because the client may not know a call of a subagent. Commands are escaped, because
        clients show text as Markdown; plans and questions are not."""
        fields: Fields = {"toolCallId": _call(ask), "status": "pending"}
        match ask:
            case PermissionAsk():
                diffs = self._updates.diffs(ask.need) if ask.need.diff else []
                words = full_text(replace(ask, need=replace(ask.need, diff="")))
                content = [in_content(text_block(fenced(words))), *diffs]
                return {**self._updates.call_fields(ask.need), **fields, "content": content}
            case PlanAsk():
                content = [in_content(text_block(visible(ask.plan)))]
                return {**fields, "title": t("Approve this plan?"), "kind": "switch_mode", "content": content}
            case QuestionAsk():  # its answers are the options
                return {**fields, "title": headline_of(ask), "kind": "other"}
            case _:
                content = [in_content(text_block(fenced(full_text(ask))))]
                return {**fields, "title": headline_of(ask), "kind": "other", "content": content}


def _call(ask: Ask) -> str:
    return ask.id if ask.call_id is None else ask.call_id


def _outcome(result: Any) -> str | None:
    """The option that the person chose; None if the client cancelled the request. Raises _NotAnswered."""
    outcome: object = cast("Fields", result).get("outcome") if isinstance(result, dict) else None
    match outcome:
        case {"outcome": "selected", "optionId": str() as option}:
            return option
        case {"outcome": "cancelled"}:
            return None
        case _:
            raise _NotAnswered(t("The editor gave no answer that can be understood."))
