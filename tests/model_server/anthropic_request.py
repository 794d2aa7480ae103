"""The shape of a Messages request: exactly these fields, of exactly these types."""

from typing import Annotated, Any, Literal

from msgspec import Meta, Struct

from tests.model_server.answers import Call
from tests.model_server.wire_form import Said

NonEmpty = Annotated[str, Meta(min_length=1)]
CallId = Annotated[str, Meta(pattern=r"^[a-zA-Z0-9_-]+\Z")]  # `$` would let a newline through
ToolName = Annotated[str, Meta(pattern=r"^[a-zA-Z0-9_-]{1,128}\Z")]


class CacheControl(Struct, frozen=True, forbid_unknown_fields=True):
    type: Literal["ephemeral"]
    ttl: Literal["5m", "1h"] = "5m"


class _Block(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type"):
    pass


class TextBlock(_Block, frozen=True, tag="text"):
    text: str
    cache_control: CacheControl | None = None


class ImageSource(Struct, frozen=True, forbid_unknown_fields=True):
    type: Literal["base64"]
    media_type: Literal["image/jpeg", "image/png", "image/gif", "image/webp"]
    data: NonEmpty


class ImageBlock(_Block, frozen=True, tag="image"):
    source: ImageSource
    cache_control: CacheControl | None = None


class ToolResultBlock(_Block, frozen=True, tag="tool_result"):
    tool_use_id: CallId
    content: str | tuple[TextBlock | ImageBlock, ...] = ()
    is_error: bool = False
    cache_control: CacheControl | None = None


class ToolUseBlock(_Block, frozen=True, tag="tool_use"):
    id: CallId
    name: ToolName
    input: dict[str, object]
    cache_control: CacheControl | None = None


class ThinkingBlock(_Block, frozen=True, tag="thinking"):
    thinking: str
    signature: str


class RedactedBlock(_Block, frozen=True, tag="redacted_thinking"):
    data: NonEmpty


UserBlock = TextBlock | ImageBlock | ToolResultBlock
AssistantBlock = TextBlock | ToolUseBlock | ThinkingBlock | RedactedBlock


class _Message(Struct, frozen=True, forbid_unknown_fields=True, tag_field="role"):
    pass


class User(_Message, frozen=True, tag="user"):
    content: NonEmpty | Annotated[tuple[UserBlock, ...], Meta(min_length=1)]

    @property
    def blocks(self) -> tuple[UserBlock, ...]:
        return (TextBlock(self.content),) if isinstance(self.content, str) else self.content


class Assistant(_Message, frozen=True, tag="assistant"):
    content: NonEmpty | Annotated[tuple[AssistantBlock, ...], Meta(min_length=1)]

    @property
    def blocks(self) -> tuple[AssistantBlock, ...]:
        return (TextBlock(self.content),) if isinstance(self.content, str) else self.content


ChatMessage = User | Assistant


class Tool(Struct, frozen=True, forbid_unknown_fields=True):
    name: ToolName
    input_schema: dict[str, Any]
    description: str = ""
    type: Literal["custom"] = "custom"
    cache_control: CacheControl | None = None


class _Choice(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type"):
    pass


class AutoChoice(_Choice, frozen=True, tag="auto"):
    disable_parallel_tool_use: bool = False


class NoChoice(_Choice, frozen=True, tag="none"):
    pass


class AnyChoice(_Choice, frozen=True, tag="any"):
    disable_parallel_tool_use: bool = False


class NamedChoice(_Choice, frozen=True, tag="tool"):
    name: ToolName
    disable_parallel_tool_use: bool = False


class _Thinking(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type"):
    pass


Display = Literal["summarized", "omitted"]


class Enabled(_Thinking, frozen=True, tag="enabled"):
    budget_tokens: Annotated[int, Meta(ge=1024)]
    display: Display = "summarized"


class Adaptive(_Thinking, frozen=True, tag="adaptive"):
    display: Display = "omitted"


class Disabled(_Thinking, frozen=True, tag="disabled"):
    pass


class OutputConfig(Struct, frozen=True, forbid_unknown_fields=True):
    effort: Literal["low", "medium", "high", "xhigh", "max"] = "high"
    format: dict[str, Any] | None = None


class MessagesRequest(Struct, frozen=True, forbid_unknown_fields=True):
    model: NonEmpty
    max_tokens: Annotated[int, Meta(ge=1)]
    messages: Annotated[tuple[ChatMessage, ...], Meta(min_length=1)]
    system: str | tuple[TextBlock, ...] = ()
    stream: bool = False
    tools: tuple[Tool, ...] = ()
    tool_choice: AutoChoice | NoChoice | AnyChoice | NamedChoice | None = None
    thinking: Enabled | Adaptive | Disabled | None = None
    output_config: OutputConfig | None = None
    temperature: Annotated[float, Meta(ge=0, le=1)] | None = None
    top_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    top_k: Annotated[int, Meta(ge=0)] | None = None
    stop_sequences: tuple[NonEmpty, ...] = ()
    metadata: dict[str, str] | None = None
    service_tier: Literal["auto", "standard_only"] = "auto"

    @property
    def instructions(self) -> tuple[TextBlock, ...]:
        return (TextBlock(self.system),) if isinstance(self.system, str) else self.system


def history(request: MessagesRequest) -> tuple[Said, ...]:
    system = "\n".join(block.text for block in request.instructions)
    first = [Said("system", system)] if system else []
    return (*first, *(said for message in request.messages for said in _said(message)))


def _said(message: ChatMessage) -> list[Said]:
    if isinstance(message, Assistant):
        uses = (block for block in message.blocks if isinstance(block, ToolUseBlock))
        calls = tuple(Call(use.name, use.input, use.id) for use in uses)
        return [Said("assistant", _text(message.blocks), calls)]
    results = [block for block in message.blocks if isinstance(block, ToolResultBlock)]
    said = [Said("tool", _result_text(result), call_id=result.tool_use_id) for result in results]
    if len(results) < len(message.blocks):
        said.append(Said("user", _text(message.blocks)))
    return said


def _text(blocks: tuple[UserBlock, ...] | tuple[AssistantBlock, ...]) -> str:
    return "\n".join(block.text for block in blocks if isinstance(block, TextBlock))


def _result_text(result: ToolResultBlock) -> str:
    return result.content if isinstance(result.content, str) else _text(result.content)
