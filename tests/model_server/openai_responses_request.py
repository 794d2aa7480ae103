"""The shape of a Responses request: exactly these fields, of exactly these types."""

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Annotated, Any, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from tests.model_server.answers import Call
from tests.model_server.openai_chat_request import NonEmpty, ToolName, decode_arguments
from tests.model_server.wire_form import Said

CallId = Annotated[str, Meta(min_length=1, max_length=64)]
Status = Literal["in_progress", "completed", "incomplete"]


class _Tagged(Struct, frozen=True, forbid_unknown_fields=True, tag_field="type"):
    pass


class InputText(_Tagged, frozen=True, tag="input_text"):
    text: str


class InputImage(_Tagged, frozen=True, tag="input_image"):
    image_url: Annotated[str, Meta(pattern=r"^(data:image/[a-z+.-]+;base64,|https?://)")]
    detail: Literal["auto", "low", "high"] = "auto"


class OutputText(_Tagged, frozen=True, tag="output_text"):
    text: str
    annotations: tuple[Any, ...] = ()
    logprobs: tuple[Any, ...] = ()


class RefusalPart(_Tagged, frozen=True, tag="refusal"):
    refusal: str


class SummaryText(_Tagged, frozen=True, tag="summary_text"):
    text: str


class ReasoningText(_Tagged, frozen=True, tag="reasoning_text"):
    text: str


Parts = Annotated[tuple[InputText | InputImage | OutputText | RefusalPart, ...], Meta(min_length=1)]
OutputParts = Annotated[tuple[InputText | InputImage, ...], Meta(min_length=1)]


class MessageItem(_Tagged, frozen=True, tag="message"):
    role: Literal["user", "assistant", "system", "developer"]
    content: str | Parts
    id: Annotated[str, Meta(pattern="^msg_")] = "msg_"
    status: Status = "completed"


class FunctionCall(_Tagged, frozen=True, tag="function_call"):
    call_id: CallId
    name: ToolName
    arguments: str
    id: Annotated[str, Meta(pattern="^fc_")] = "fc_"
    status: Status = "completed"


class FunctionCallOutput(_Tagged, frozen=True, tag="function_call_output"):
    call_id: CallId
    output: str | OutputParts
    id: Annotated[str, Meta(pattern="^fc_")] = "fc_"
    status: Status = "completed"


class ReasoningItem(_Tagged, frozen=True, tag="reasoning"):
    id: Annotated[str, Meta(pattern="^rs_")]
    summary: tuple[SummaryText, ...]
    content: tuple[ReasoningText, ...] = ()
    encrypted_content: NonEmpty | None = None
    status: Status = "completed"


Item = MessageItem | FunctionCall | FunctionCallOutput | ReasoningItem


class FunctionTool(_Tagged, frozen=True, tag="function"):
    name: ToolName
    description: str = ""
    parameters: dict[str, Any] | UnsetType = UNSET
    strict: bool = True


class NamedFunction(_Tagged, frozen=True, tag="function"):
    name: ToolName


class Thinking(Struct, frozen=True, forbid_unknown_fields=True):
    effort: Literal["none", "minimal", "low", "medium", "high", "xhigh"] | None = None
    summary: Literal["auto", "concise", "detailed"] | None = None


class StreamOptions(Struct, frozen=True, forbid_unknown_fields=True):
    include_obfuscation: bool = True


class ResponsesRequest(Struct, frozen=True, forbid_unknown_fields=True):
    """What leaves something at the server, like `previous_response_id`, is unknown here."""

    model: NonEmpty
    input: Annotated[tuple[Item, ...], Meta(min_length=1)]
    instructions: str | None = None
    stream: bool = False
    stream_options: StreamOptions | None = None
    store: bool | None = None
    include: tuple[Literal["reasoning.encrypted_content", "message.output_text.logprobs"], ...] = ()
    tools: Annotated[tuple[FunctionTool, ...], Meta(min_length=1)] = ()
    tool_choice: Literal["none", "auto", "required"] | NamedFunction | None = None
    parallel_tool_calls: bool | None = None
    reasoning: Thinking | None = None
    text: dict[str, Any] | None = None
    truncation: Literal["auto", "disabled"] | None = None
    max_output_tokens: Annotated[int, Meta(ge=16)] | None = None
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    top_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    metadata: dict[str, str] | None = None
    service_tier: str | None = None
    prompt_cache_key: str = ""
    prompt_cache_retention: str | None = None
    safety_identifier: str = ""
    user: str = ""

    @property
    def wants_sealed_reasoning(self) -> bool:
        return "reasoning.encrypted_content" in self.include


def history(request: ResponsesRequest) -> tuple[Said, ...]:
    instructions = [Said("system", request.instructions)] if request.instructions else []
    return (*instructions, *_said(request.input))


def _said(items: Iterable[Item]) -> Iterator[Said]:
    """The items that a model made one after the other are one message."""
    for is_model, together in groupby(items, is_of_model):
        if is_model:
            yield _assistant(list(together))
            continue
        for item in together:
            match item:
                case MessageItem():
                    yield Said("user" if item.role == "user" else "system", text_of(item.content))
                case FunctionCallOutput():
                    yield Said("tool", text_of(item.output), call_id=item.call_id)
                case _:
                    raise AssertionError(item)


def is_of_model(item: Item) -> bool:
    if isinstance(item, MessageItem):
        return item.role == "assistant"
    return not isinstance(item, FunctionCallOutput)


def _assistant(items: list[Item]) -> Said:
    text = "".join(text_of(item.content) for item in items if isinstance(item, MessageItem))
    calls = [item for item in items if isinstance(item, FunctionCall)]
    return Said(
        "assistant", text, tuple(Call(each.name, decode_arguments(each.arguments), each.call_id) for each in calls)
    )


def text_of(content: str | tuple[InputText | InputImage | OutputText | RefusalPart, ...]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.text for part in content if isinstance(part, InputText | OutputText))
