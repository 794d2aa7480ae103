"""What Chat Completions refuses: the strictest reading of the form that any provider is known to have."""

import msgspec
from msgspec import UNSET

from tests.model_server.openai_chat_request import (
    Assistant,
    ChatMessage,
    ChatRequest,
    Developer,
    NamedTool,
    System,
    Tool,
    ToolCall,
    ToolResult,
    User,
    decode_arguments,
)
from tests.model_server.openai_chat_signature import demands_signatures, signature
from tests.model_server.openai_strict import check_schema, param_in
from tests.model_server.violation import Refused
from tests.model_server.wire_form import Body

WANT_THOUGHTS = ("deepseek-v4", "kimi-k2.6")  # with every call, were it made by another model


def check(body: Body) -> ChatRequest:
    try:
        request = msgspec.convert(body, ChatRequest)
    except msgspec.ValidationError as wrong:
        raise Refused(str(wrong), param_in(str(wrong))) from wrong
    _check_order(request.messages)
    _check_assistants(request.messages, request.model)
    _check_signatures(request)
    _check_tools(request.tools)
    _check_options(request)
    return request


def _check_order(messages: tuple[ChatMessage, ...]) -> None:
    previous: ChatMessage | None = None
    unanswered: list[str] = []
    for at, message in enumerate(messages):
        if isinstance(message, ToolResult):
            _check_result(message, unanswered, f"messages[{at}].tool_call_id")
            unanswered.pop(0)
        else:
            _check_answered(unanswered, f"messages[{at}].role")
            _check_turn(message, previous, f"messages[{at}].role")
        if isinstance(message, Assistant):
            unanswered = [call.id for call in message.tool_calls]
        previous = message
    last = f"messages[{len(messages) - 1}].role"
    _check_answered(unanswered, last)
    if not isinstance(previous, (User, ToolResult)):
        raise Refused("the last message must be a user's or a tool's", last)


def _check_result(result: ToolResult, unanswered: list[str], param: str) -> None:
    if not unanswered:
        raise Refused(f"{result.tool_call_id!r} answers no open call of the assistant message before it", param)
    if result.tool_call_id != unanswered[0]:
        raise Refused(f"expected the result of {unanswered[0]!r}, got {result.tool_call_id!r}", param)


def _check_answered(unanswered: list[str], param: str) -> None:
    if unanswered:
        raise Refused(f"calls without a result: {', '.join(unanswered)}", param)


def _check_turn(message: ChatMessage, previous: ChatMessage | None, param: str) -> None:
    match message:
        case System() | Developer() if previous is not None:
            raise Refused("instructions come first or not at all", param)
        case User() if isinstance(previous, User):
            raise Refused("two user messages in a row", param)
        case Assistant() if isinstance(previous, Assistant):
            raise Refused("two assistant messages in a row", param)
        case Assistant() if not isinstance(previous, (User, ToolResult)):
            raise Refused("the first message after the instructions must be a user's", param)
        case _:
            pass


def _check_assistants(messages: tuple[ChatMessage, ...], model: str) -> None:
    seen: set[str] = set()
    for at, message in enumerate(messages):
        if not isinstance(message, Assistant):
            continue
        if not message.content and not message.tool_calls:
            raise Refused("an assistant message needs content or tool_calls", f"messages[{at}].content")
        _check_thoughts(message, model, f"messages[{at}]")
        for index, call in enumerate(message.tool_calls):
            _check_call(call, seen, f"messages[{at}].tool_calls[{index}]")


def _check_thoughts(message: Assistant, model: str, param: str) -> None:
    if message.reasoning_content is not None and not message.tool_calls:
        raise Refused("only in messages with tool_calls", f"{param}.reasoning_content")
    if not message.reasoning_content and message.tool_calls and model.startswith(WANT_THOUGHTS):
        raise Refused("The `reasoning_content` must be passed back to the API.", param)


def _check_call(call: ToolCall, seen: set[str], param: str) -> None:
    if call.id in seen:
        raise Refused(f"a second call with the id {call.id!r}", f"{param}.id")
    seen.add(call.id)
    try:
        decode_arguments(call.function.arguments)
    except (msgspec.DecodeError, RecursionError) as wrong:
        raise Refused(f"not a JSON object: {wrong}", f"{param}.function.arguments") from wrong


def _check_signatures(request: ChatRequest) -> None:
    last_user = max(at for at, message in enumerate(request.messages) if isinstance(message, User))
    for at, message in enumerate(request.messages):
        calls = message.tool_calls if isinstance(message, Assistant) else ()
        for index, call in enumerate(calls):
            param = f"messages[{at}].tool_calls[{index}].extra_content"
            sign = call.extra_content and call.extra_content.google.thought_signature
            if sign is not None and sign != signature(request.model, call.id):
                raise Refused("Corrupted thought signature.", param)
            if sign is None and not index and at > last_user and demands_signatures(request.model):
                raise Refused("Function call is missing a thought_signature in functionCall parts.", param)


def _check_tools(tools: tuple[Tool, ...]) -> None:
    seen: set[str] = set()
    for at, tool in enumerate(tools):
        if tool.function.name in seen:
            raise Refused(f"a second tool named {tool.function.name!r}", f"tools[{at}].function.name")
        seen.add(tool.function.name)
        if tool.function.parameters is not UNSET:
            check_schema(tool.function.parameters, f"tools[{at}].function.parameters")


def _check_options(request: ChatRequest) -> None:
    if request.stream_options is not None and not request.stream:
        raise Refused("only with stream: true", "stream_options")
    if request.parallel_tool_calls is not None and not request.tools:
        raise Refused("only with tools", "parallel_tool_calls")
    if request.tool_choice is not None and not request.tools:
        raise Refused("only with tools", "tool_choice")
    if isinstance(request.tool_choice, NamedTool):
        name = request.tool_choice.function.name
        if name not in {tool.function.name for tool in request.tools}:
            raise Refused(f"no tool is named {name!r}", "tool_choice")
