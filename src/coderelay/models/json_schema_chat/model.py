"""Chat Completions with answers bound to a JSON schema, for models that cannot propose calls otherwise."""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from itertools import groupby
from typing import Any

import msgspec
from msgspec.structs import replace

from coderelay.models.api_client import ApiClient
from coderelay.models.json_schema_chat.streamed_json_answer import FINISH, SchemaAnswer, step_schema
from coderelay.models.model import Piece, Request, TextPiece, ThinkingPiece
from coderelay.models.model_card import Card
from coderelay.models.openai_chat.stream_decoder import ChatAnswer
from coderelay.protocol.calls import Call
from coderelay.protocol.message_content import text_of
from coderelay.protocol.tool_specs import ToolSpec, first_sentence
from coderelay.session.model_messages import AssistantMessage, Message, ToolMessage, UserMessage

_encode = msgspec.json.Encoder().encode

_FORM = """
Reply with exactly one JSON object, which uses one tool: {"tool": NAME, "arguments": {...}}. Then you see its \
result and use the next tool. Only tools change files and run commands. You know no file before you have read it. \
When all is done, or you have seen what was asked for, use finish.
Tools:
"""
_FINISH = "finish(answer): End with the answer for the person: the very facts that were asked for, or what was done"
_EXAMPLES = """
Example. The person says: How big is the folder shop?
{"tool": "bash", "arguments": {"command": "du -sh shop"}}
Result of bash: 12K shop
{"tool": "finish", "arguments": {"answer": "The folder shop has 12 kB."}}
Example. The person says: The tax in shop/price.py is 20 now, not 19.
{"tool": "read", "arguments": {"path": "shop/price.py"}}
Result of read: TAX = 19
print(100 + TAX)
{"tool": "write", "arguments": {"path": "shop/price.py", "content": "TAX = 20\\nprint(100 + TAX)\\n"}}
Result of write: shop/price.py written
{"tool": "finish", "arguments": {"answer": "The tax in shop/price.py is 20 now."}}
"""
_NOW = "Use the next tool. If all is done, or the results show what was asked for, use finish with the answer."
_FAILED = "That failed, so what was asked for is not done yet. Use the next tool to do it in another way."


class SchemaChat:
    """Tools are described in the system message, and calls and results are sent as plain messages: the server only
    has to keep to the schema, and even that is not relied upon."""

    def __init__(self, model_id: str, card: Card, api_client: ApiClient) -> None:
        self.id = model_id
        self.card = card
        self._name = model_id.partition(":")[2]
        self._api_client = api_client

    async def stream(self, request: Request) -> AsyncGenerator[Piece, None]:
        tools = self._tools(request)
        heard, answer = ChatAnswer(self._api_client.secret, f"schema/{self._name}"), SchemaAnswer() if tools else None
        events = self._api_client.events("/chat/completions", self._body(request, tools), lambda: heard.is_done)
        async with aclosing(events):
            async for each in events:
                for piece in _pieces(*heard.take(each), answer):
                    yield piece
        for piece in _pieces(*heard.end(), answer):
            yield piece
        completion = heard.completion()
        if answer is not None:
            completion = answer.completion(completion, tools)
            if rest := answer.rest(completion):
                yield TextPiece(rest)
        yield completion

    def _tools(self, request: Request) -> Sequence[ToolSpec]:
        if not self.card.is_small:
            return request.tools
        return [_essential(tool) for tool in request.tools if tool.for_small_models] or request.tools

    def _body(self, request: Request, tools: Sequence[ToolSpec]) -> bytes:
        system = f"{request.system}{_described(tools)}" if tools else request.system
        messages = [*_simplified(request.messages, tools)] if self.card.is_small else request.messages
        said = [_said(each, self.card.context // 2) for each in messages]
        if tools and isinstance(last := messages[-1], ToolMessage):
            said.append(("user", _FAILED if last.failed else _NOW))
        body: dict[str, Any] = {
            "model": self._name,
            "stream": True,
            "stream_options": {"include_usage": True},
            "max_tokens": self.card.output,
            "temperature": 0,
            "messages": [*([{"role": "system", "content": system}] if system else []), *_alternating(said)],
        }
        if tools:
            schema = step_schema(_tools_left(messages, tools))
            form = {"name": "step", "strict": True, "schema": schema}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        return _encode(body)


def _essential(tool: ToolSpec) -> ToolSpec:
    """The tool without its optional parameters: a small model fills them with zeros."""
    required: list[str] = tool.parameters.get("required", [])
    if not required:
        return tool
    properties = {name: tool.parameters["properties"][name] for name in required}
    return replace(tool, parameters={**tool.parameters, "properties": properties})


def _pieces(thinking: str, text: str, answer: SchemaAnswer | None) -> Iterator[Piece]:
    if thinking:
        yield ThinkingPiece(thinking)
    if shown := text if answer is None else answer.feed(text):
        yield TextPiece(shown)


def _tools_left(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Sequence[ToolSpec]:
    """The tools that the model may use next. After the same call twice, it has seen the result, and may only answer.
    If that call failed, or if it goes back and forth between two calls, it must use another tool."""
    last = messages[-1]
    said = [each.calls for each in messages if isinstance(each, AssistantMessage)]
    calls = [tuple((call.name, call.arguments) for call in each) for each in said]
    if not isinstance(last, ToolMessage) or not calls[-1]:
        return tools
    is_repeated, is_to_and_fro = calls[-2:-1] == calls[-1:], calls[-4:-2] == calls[-2:]
    if is_repeated and not last.failed:
        return ()
    used = {name for each in calls[-2:] for name, _ in each} if is_repeated or is_to_and_fro else set[str]()
    return [tool for tool in tools if tool.name not in used]


def _described(tools: Sequence[ToolSpec]) -> str:
    """Describe each tool in one sentence; full descriptions are for models with a larger context."""
    lines = [f"{tool.name}{_signature(tool)}: {first_sentence(tool.description).removesuffix('.')}" for tool in tools]
    examples = _EXAMPLES if {"bash", "read", "write"} <= {tool.name for tool in tools} else ""
    return _FORM + "\n".join([*lines, _FINISH]) + examples


def _signature(tool: ToolSpec) -> str:
    required: list[str] = tool.parameters.get("required", [])
    names = [name if name in required else f"{name}?" for name in tool.parameters.get("properties", {})]
    return f"({', '.join(names)})"


def _simplified(messages: Sequence[Message], tools: Sequence[ToolSpec]) -> Iterator[Message]:
    """The history for a small model. Of an edit that failed, it is shown only which file it was for: after reading
    that file, it would write the same text again, whatever it has read."""
    headlines = {tool.name: tool.headline for tool in tools if tool.kind == "edit"}
    results = {tool.name: tool.result_for_small_models for tool in tools if tool.result_for_small_models}
    failed = {each.call_id for each in messages if isinstance(each, ToolMessage) and each.failed}
    for each in messages:
        if isinstance(each, AssistantMessage):
            calls = (_only(call, headlines.get(call.name)) if call.id in failed else call for call in each.calls)
            yield replace(each, calls=tuple(calls))
        elif isinstance(each, ToolMessage) and not each.failed and (simplify := results.get(each.name)):
            yield replace(each, text=simplify(each.text))
        else:
            yield each


def _only(call: Call, argument: str | None) -> Call:
    try:
        arguments = msgspec.json.decode(call.arguments, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        return call
    if argument not in arguments:
        return call
    return replace(call, arguments=_encode({argument: arguments[argument]}).decode())


def _alternating(said: Sequence[tuple[str, str]]) -> Iterator[dict[str, str]]:
    """Merge neighbouring messages of one role: many chat templates accept only user and assistant in turn."""
    for role, together in groupby(said, key=lambda each: each[0]):
        yield {"role": role, "content": "\n\n".join(text for _, text in together)}


def _said(message: Message, most: int) -> tuple[str, str]:
    match message:
        case UserMessage():
            return "user", message.text
        case ToolMessage():
            return "user", f"Result of {message.name}: {_cut(message.text, most)}"
        case AssistantMessage():
            return "assistant", _as_written(message)


def _as_written(message: AssistantMessage) -> str:
    text = text_of(message.blocks)
    if not message.calls:
        return _encode({"tool": FINISH, "arguments": {"answer": text}}).decode()
    return "\n".join([*([text] if text else []), *map(_written_call, message.calls)])


def _written_call(call: Call) -> str:
    return f'{{"tool": {_encode(call.name).decode()}, "arguments": {_on_one_line(call.arguments)}}}'


def _on_one_line(arguments: str) -> str:
    """As in the examples: a model goes on as it began, and the blanks that it would write take time."""
    try:
        return msgspec.json.format(arguments, indent=0)
    except (msgspec.DecodeError, RecursionError):
        return arguments


def _cut(text: str, most: int) -> str:
    """Keep the beginning and the end of a result, so that it does not fill a small context."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n[{len(text) - 2 * half} characters left out]\n{text[-half:]}"
