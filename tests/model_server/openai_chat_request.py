"""The shape of a Chat Completions request: exactly these fields, of exactly these types."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from tests.model_server.answers import Call
from tests.model_server.wire_form import Said

NonEmpty = Annotated[str, Meta(min_length=1)]
CallId = Annotated[str, Meta(min_length=1, max_length=40)]
ToolName = Annotated[str, Meta(pattern=r"^[a-zA-Z0-9_-]{1,64}\Z")]  # `$` would let a newline through


class _Part(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type"):
    pass


class TextPart(_Part, frozen=True, tag="text"):
    text: str


class ImageUrl(Struct, frozen=True, forbid_unknown_fields=True):
    url: Annotated[str, Meta(pattern=r"^(data:image/[a-z+.-]+;base64,|https?://)")]
    detail: Literal["auto", "low", "high"] = "auto"


class ImagePart(_Part, frozen=True, tag="image_url"):
    image_url: ImageUrl


TextParts = Annotated[tuple[TextPart, ...], Meta(min_length=1)]
AnyParts = Annotated[tuple[TextPart | ImagePart, ...], Meta(min_length=1)]


class Function(Struct, frozen=True, forbid_unknown_fields=True):
    name: ToolName
    arguments: str


class Google(Struct, frozen=True, forbid_unknown_fields=True):
    thought_signature: NonEmpty


class ExtraContent(Struct, frozen=True, forbid_unknown_fields=True):
    """Gemini's addition to the form."""

    google: Google


class ToolCall(Struct, frozen=True, forbid_unknown_fields=True):
    id: CallId
    type: Literal["function"]
    function: Function
    extra_content: ExtraContent | None = None


class _Message(Struct, frozen=True, forbid_unknown_fields=True, tag_field="role"):
    pass


class System(_Message, frozen=True, tag="system"):
    content: str | TextParts
    name: str = ""


class Developer(_Message, frozen=True, tag="developer"):
    content: str | TextParts
    name: str = ""


class User(_Message, frozen=True, tag="user"):
    content: str | AnyParts
    name: str = ""


class Assistant(_Message, frozen=True, tag="assistant"):
    content: str | TextParts | None = None
    tool_calls: Annotated[tuple[ToolCall, ...], Meta(min_length=1)] = ()
    name: str = ""
    refusal: str | None = None
    reasoning: str | None = None
    reasoning_content: str | None = None


class ToolResult(_Message, frozen=True, tag="tool"):
    content: str | TextParts
    tool_call_id: CallId
    name: str = ""


ChatMessage = System | Developer | User | Assistant | ToolResult


class ToolFunction(Struct, frozen=True, forbid_unknown_fields=True):
    name: ToolName
    description: str = ""
    parameters: dict[str, Any] | UnsetType = UNSET
    strict: bool | None = None


class Tool(Struct, frozen=True, forbid_unknown_fields=True):
    type: Literal["function"]
    function: ToolFunction


class NamedFunction(Struct, frozen=True, forbid_unknown_fields=True):
    name: ToolName


class NamedTool(Struct, frozen=True, forbid_unknown_fields=True):
    type: Literal["function"]
    function: NamedFunction


class StreamOptions(Struct, frozen=True, forbid_unknown_fields=True):
    include_usage: bool = False
    include_obfuscation: bool = False


class ChatRequest(Struct, frozen=True, forbid_unknown_fields=True):
    model: NonEmpty
    messages: Annotated[tuple[ChatMessage, ...], Meta(min_length=1)]
    stream: bool = False
    stream_options: StreamOptions | None = None
    tools: Annotated[tuple[Tool, ...], Meta(min_length=1)] = ()
    tool_choice: Literal["none", "auto", "required"] | NamedTool | None = None
    parallel_tool_calls: bool | None = None
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    top_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    frequency_penalty: Annotated[float, Meta(ge=-2, le=2)] | None = None
    presence_penalty: Annotated[float, Meta(ge=-2, le=2)] | None = None
    max_tokens: Annotated[int, Meta(ge=1)] | None = None
    max_completion_tokens: Annotated[int, Meta(ge=1)] | None = None
    n: Literal[1] | None = None
    stop: str | list[str] | None = None
    seed: int | None = None
    logprobs: bool | None = None
    top_logprobs: Annotated[int, Meta(ge=0, le=20)] | None = None
    logit_bias: dict[str, float] | None = None
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh"] | None = None
    verbosity: Literal["low", "medium", "high"] | None = None
    response_format: dict[str, Any] | None = None
    metadata: dict[str, str] | None = None
    service_tier: str | None = None
    store: bool | None = None
    user: str = ""
    safety_identifier: str = ""
    prompt_cache_key: str = ""
    prompt_cache_retention: str | None = None


decode_arguments = msgspec.json.Decoder(dict[str, object]).decode


def history(request: ChatRequest) -> tuple[Said, ...]:
    return tuple(_said(message) for message in request.messages)


def _said(message: ChatMessage) -> Said:
    match message:
        case System() | Developer():
            return Said("system", _text(message.content))
        case User():
            return Said("user", _text(message.content))
        case Assistant():
            calls = tuple(_call(call) for call in message.tool_calls)
            return Said("assistant", _text(message.content), calls)
        case ToolResult():
            return Said("tool", _text(message.content), call_id=message.tool_call_id)


def _text(content: str | tuple[TextPart | ImagePart, ...] | None) -> str:
    if content is None or isinstance(content, str):
        return content or ""
    return "\n".join(part.text for part in content if isinstance(part, TextPart))


def _call(call: ToolCall) -> Call:
    return Call(call.function.name, decode_arguments(call.function.arguments), call.id)
