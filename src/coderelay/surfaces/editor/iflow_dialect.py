"""The dialect of clients made for iFlow, which is ACP with other details: https://platform.iflow.cn."""

from typing import Any, Literal, cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from coderelay.acp.request_params import Initialize
from coderelay.acp.update_payloads import Fields
from coderelay.client.ask_view import AskOption
from coderelay.protocol.asks import Answers, Ask, Decision, PlanAsk, PlanDecision, QuestionAsk
from coderelay.protocol.ids import SessionId
from coderelay.surfaces.editor.acp_dialect_base import Dialect
from coderelay.wire.messages_and_errors import METHOD_NOT_FOUND, RpcError
from coderelay.wire.peer import Peer

_OPTION_IDS = {"y": "proceed_once", "a": "proceed_always", "e": "proceed_always_tool", "n": "cancel"}
_CAPABILITIES = {"fs": {"readTextFile": True, "writeTextFile": True}}


def is_iflow(initialized: Initialize) -> bool:
    """Whether a client is one made for iFlow, if it waited for the line `//ready` that iFlow's server begins with: it
    sends no clientInfo, and only the capabilities for files."""
    return initialized.client_info is None and initialized.client_capabilities == _CAPABILITIES


class IflowDialect(Dialect):
    """Every tool call has the name and the arguments of its tool, and every update of it the name. Errors of a prompt
    are told as text, because these clients would wait for ever. They request the mode yolo by
    default. They are not told when they get a stricter mode, because programs would read the notice as part of the
    answer."""

    tells_mode = False
    lends_files = False  # one of these clients answers the text "Error: …" where there is no file

    def __init__(self, initialized: Initialize) -> None:
        super().__init__(initialized)
        self._tools: dict[str, str] = {}

    def initialize_result(self, fields: Fields) -> Fields:
        return {**fields, "isAuthenticated": True}

    def opened(self, session: SessionId, fields: Fields) -> Fields:
        return {"sessionId": session, **fields}

    def update(self, update: Fields) -> Fields:
        call: str | None = update.get("toolCallId")
        if call is None:
            return update
        if update["sessionUpdate"] == "tool_call":
            self._tools[call] = update["_meta"]["coderelay"]["toolName"]
            return {**update, "toolName": self._tools[call], "args": update.get("rawInput", {})}
        name = self._tools.get(call)
        return update if name is None else {**update, "toolName": name}

    def permission(self, params: Fields) -> Fields:
        """These clients look at a `type` besides the `kind`."""
        call: Fields = params["toolCall"]
        return {**params, "toolCall": {**call, "type": call.get("kind", "other")}}

    def option_id(self, option: AskOption) -> str:
        return _OPTION_IDS.get(option.answer, option.answer)

    def prompt_end(self, how: str | RpcError) -> tuple[str, str]:
        if isinstance(how, RpcError):
            return how.message, "end_turn"
        return "", "max_tokens" if how == "max_turn_requests" else how

    async def decide(self, peer: Peer, session: SessionId, ask: Ask) -> Decision | None:
        """Older clients know neither of the two methods; they are asked for permission."""
        try:
            match ask:
                case QuestionAsk():
                    params = {
                        "sessionId": session,
                        "questions": [_question(ask, each) for each in range(len(ask.questions))],
                    }
                    return _answers(ask, await peer.send_request("_iflow/user/questions", params))
                case PlanAsk():
                    result = await peer.send_request("_iflow/plan/exit", {"sessionId": session, "plan": ask.plan})
                    return _approval(result)
                case _:
                    return None
        except RpcError as error:
            if error.code == METHOD_NOT_FOUND:
                return None
            raise


def _question(ask: QuestionAsk, number: int) -> Fields:
    question = ask.questions[number]
    options = [{"label": each.label, "description": each.description} for each in question.options]
    return {
        "question": question.question,
        "header": _header(ask, number),
        "options": options,
        "multiSelect": question.multi_select,
    }


def _header(ask: QuestionAsk, number: int) -> str:
    """The answer is keyed by it, so no two are the same."""
    headers = [each.header or each.question for each in ask.questions]
    return headers[number] if headers.count(headers[number]) == 1 else f"{headers[number]} {number + 1}"


def _answers(ask: QuestionAsk, result: Any) -> Decision | None:
    given = cast("Fields", result).get("answers") if isinstance(result, dict) else None
    if not isinstance(given, dict):
        return None
    found: dict[str, str] = {}
    for number, question in enumerate(ask.questions):
        answer = cast("Fields", given).get(_header(ask, number)) or cast("Fields", given).get(question.question)
        labels = cast("list[Any]", answer) if isinstance(answer, list) else [answer]
        if not labels or not all(isinstance(each, str) and each.strip() for each in labels):
            return None
        found[question.question] = ", ".join(map(str, labels))
    return Answers(found)


def _approval(result: Any) -> Decision | None:
    approved = cast("Fields", result).get("approved") if isinstance(result, dict) else None
    if not isinstance(approved, bool):
        return None
    return PlanDecision("default") if approved else PlanDecision("keep")


_MOST_BYTES = 32 * 1024
_BEGINS = b'{"jsonrpc":"2.0","method":"session/update"'


class _Text(Struct, frozen=True, tag_field="type", tag="text"):
    text: str


class _Chunk(Struct, frozen=True, rename="camel", omit_defaults=True):
    session_update: Literal["agent_message_chunk", "agent_thought_chunk"]
    content: _Text
    message_id: str | None = None


class _Params(Struct, frozen=True, rename="camel"):
    session_id: str
    update: _Chunk


class _Message(Struct, frozen=True):
    jsonrpc: str
    method: str
    params: _Params


_DECODER = msgspec.json.Decoder(_Message)


def joined_chunks(one: bytes, other: bytes) -> bytes | None:
    """Two messages as one, if both are pieces of the same text; else None."""
    if len(one) > _MOST_BYTES or not one.startswith(_BEGINS) or not other.startswith(_BEGINS):
        return None
    try:
        first, second = _DECODER.decode(one), _DECODER.decode(other)
    except msgspec.DecodeError:  # an update of another kind
        return None
    text = _Text(first.params.update.content.text + second.params.update.content.text)
    joined = replace(first, params=replace(first.params, update=replace(first.params.update, content=text)))
    same = replace(second, params=replace(second.params, update=replace(second.params.update, content=text)))
    return msgspec.json.encode(joined) if joined == same else None
