"""What the Messages API refuses, and what a server that speaks its form may refuse besides."""

import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Iterator
from typing import Any, Literal

import msgspec
from msgspec import Struct

from tests.model_server.anthropic_request import (
    Adaptive,
    AnyChoice,
    Assistant,
    ChatMessage,
    Disabled,
    Enabled,
    ImageBlock,
    MessagesRequest,
    NamedChoice,
    RedactedBlock,
    TextBlock,
    ThinkingBlock,
    Tool,
    ToolResultBlock,
    ToolUseBlock,
    User,
)
from tests.model_server.anthropic_signature import signature
from tests.model_server.violation import Refused
from tests.model_server.wire_form import Body

BREAKPOINTS = 4


def check(body: Body) -> MessagesRequest:
    try:
        request = msgspec.convert(body, MessagesRequest)
    except msgspec.ValidationError as wrong:
        raise Refused(str(wrong), _param(str(wrong))) from wrong
    _check_order(request.messages)
    _check_results(request.messages)
    _check_blocks(request)
    _check_thoughts(request)
    _check_tools(request)
    _check_options(request)
    _check_breakpoints(request)
    return request


def _param(wrong: str) -> str | None:
    """`… unknown field `x` - at `$.messages[0]`` names messages.0.x."""
    path = re.search(r" - at `\$\.?(.*)`$", wrong)
    name = re.search(r"(?:unknown|required) field `(.*?)`", wrong)
    found = ".".join(each[1] for each in (path, name) if each)
    return re.sub(r"\[(.*?)\]", r".\1", found) or None


def _check_order(messages: tuple[ChatMessage, ...]) -> None:
    for at, message in enumerate(messages):
        if type(message) is not (Assistant if at % 2 else User):
            raise Refused("roles must alternate, and the first message is a user's", f"messages.{at}.role")
    if not isinstance(messages[-1], User):
        raise Refused("the last message must be a user's", f"messages.{len(messages) - 1}.role")


def _check_results(messages: tuple[ChatMessage, ...]) -> None:
    """Every call has its result in the message after it, before anything else there."""
    used = set[str]()
    for at, message in enumerate(messages):
        if isinstance(message, Assistant):
            continue
        before = messages[at - 1].blocks if at else ()
        calls = [block.id for block in before if isinstance(block, ToolUseBlock)]
        if len(set(calls)) < len(calls) or used & set(calls):
            raise Refused("`tool_use` ids must be unique", f"messages.{at - 1}")
        used.update(calls)
        _check_answers(message, calls, f"messages.{at}")


def _check_answers(message: User, calls: list[str], param: str) -> None:
    results = [block.tool_use_id for block in message.blocks if isinstance(block, ToolResultBlock)]
    if unknown := [each for each in results if each not in calls]:
        raise Refused(f"unexpected `tool_use_id` found in `tool_result` blocks: {', '.join(unknown)}", param)
    if missing := [each for each in calls if each not in results]:
        raise Refused(f"`tool_use` ids were found without `tool_result` blocks: {', '.join(missing)}", param)
    if len(results) > len(calls):
        raise Refused("each tool_use must have a single result", param)
    if not all(isinstance(block, ToolResultBlock) for block in message.blocks[: len(results)]):
        raise Refused("`tool_result` blocks come first", param)


def _check_blocks(request: MessagesRequest) -> None:
    for param, block in _blocks(request):
        match block:
            case TextBlock() if not block.text.strip():
                raise Refused("text content blocks must contain non-whitespace text", param)
            case ImageBlock():
                _check_image(block, param)
            case ToolResultBlock() if block.is_error and not _is_text(block):
                raise Refused("all content must be type `text` if `is_error` is true", param)
            case _:
                pass


def _blocks(request: MessagesRequest) -> Iterator[tuple[str, object]]:
    """All there are, with those inside others."""
    for at, block in enumerate(request.instructions):
        yield f"system.{at}", block
    for at, message in enumerate(request.messages):
        for index, block in enumerate(message.blocks):
            param = f"messages.{at}.content.{index}"
            yield param, block
            if isinstance(block, ToolResultBlock) and not isinstance(block.content, str):
                yield from ((f"{param}.content.{inner}", each) for inner, each in enumerate(block.content))


def _check_image(image: ImageBlock, param: str) -> None:
    try:
        b64decode(image.source.data, validate=True)
    except NotBase64 as wrong:
        raise Refused(f"invalid base64 data: {wrong}", f"{param}.source.data") from wrong


def _is_text(result: ToolResultBlock) -> bool:
    return isinstance(result.content, str) or all(isinstance(block, TextBlock) for block in result.content)


def _check_thoughts(request: MessagesRequest) -> None:
    for param, block in _blocks(request):
        if isinstance(block, ThinkingBlock) and block.signature != signature(request.model, block.thinking):
            raise Refused("Invalid `signature` in `thinking` block", param)
    for at, message in enumerate(request.messages):
        if _is_thought(message.blocks[-1]):
            raise Refused("The final block in an assistant message cannot be `thinking`", f"messages.{at}")
    loop = _loop(request.messages)
    if isinstance(request.thinking, Enabled) and loop and not _is_thought(loop[0].blocks[0]):
        raise Refused(
            "Expected `thinking` or `redacted_thinking`. When `thinking` is enabled, a final `assistant` message "
            "must start with a thinking block",
            "messages",
        )
    if isinstance(request.thinking, Disabled) and any(
        _is_thought(each) for message in loop for each in message.blocks
    ):
        raise Refused("When thinking is disabled, a final `assistant` message cannot contain `thinking`", "messages")


def _loop(messages: tuple[ChatMessage, ...]) -> list[Assistant]:
    """What the model said since a person spoke: anything but a tool result begins another loop."""
    loop: list[Assistant] = []
    for message in messages:
        if isinstance(message, Assistant):
            loop.append(message)
        elif not all(isinstance(block, ToolResultBlock) for block in message.blocks):
            loop.clear()
    return loop


def _is_thought(block: object) -> bool:
    return isinstance(block, ThinkingBlock | RedactedBlock)


def _check_tools(request: MessagesRequest) -> None:
    seen: set[str] = set()
    for at, tool in enumerate(request.tools):
        if tool.name in seen:
            raise Refused("Tool names must be unique.", f"tools.{at}.name")
        seen.add(tool.name)
        _check_schema(tool, f"tools.{at}.input_schema")
    if not seen and any(isinstance(block, ToolUseBlock) for _, block in _blocks(request)):
        raise Refused("Requests which include `tool_use` or `tool_result` blocks must define tools", "tools")
    if request.tool_choice is not None and not seen:
        raise Refused("tool_choice may only be specified while providing tools", "tool_choice")
    if isinstance(request.tool_choice, NamedChoice) and request.tool_choice.name not in seen:
        raise Refused(f"Tool '{request.tool_choice.name}' not found in provided tools", "tool_choice")


class _Schema(Struct, frozen=True):
    type: Literal["object"]
    properties: dict[str, dict[str, Any] | bool] = {}
    required: list[str] = []


def _check_schema(tool: Tool, param: str) -> None:
    try:
        schema = msgspec.convert(tool.input_schema, _Schema)
    except msgspec.ValidationError as wrong:
        raise Refused(f"not the JSON schema of an object: {wrong}", param) from wrong
    if unknown := set(schema.required) - schema.properties.keys():
        raise Refused(f"required but not among the properties: {', '.join(sorted(unknown))}", param)
    if barred := tool.input_schema.keys() & {"oneOf", "allOf", "anyOf"}:
        raise Refused(f"input_schema does not support {', '.join(sorted(barred))} at the top level", param)


def _check_options(request: MessagesRequest) -> None:
    if not isinstance(request.thinking, Enabled | Adaptive):
        return
    if isinstance(request.thinking, Enabled) and request.thinking.budget_tokens >= request.max_tokens:
        raise Refused("`max_tokens` must be greater than `thinking.budget_tokens`", "max_tokens")
    if request.temperature not in (None, 1):
        raise Refused("`temperature` may only be set to 1 when thinking is enabled", "temperature")
    if request.top_k is not None:
        raise Refused("`top_k` must be unset when thinking is enabled", "top_k")
    if isinstance(request.tool_choice, AnyChoice | NamedChoice):
        raise Refused("Thinking may not be enabled when tool_choice forces tool use.", "tool_choice")


def _check_breakpoints(request: MessagesRequest) -> None:
    parts = [*request.tools, *(block for _, block in _blocks(request))]
    found = sum(getattr(part, "cache_control", None) is not None for part in parts)
    if found > BREAKPOINTS:
        raise Refused(f"A maximum of {BREAKPOINTS} blocks with cache_control may be provided. Found {found}.")
