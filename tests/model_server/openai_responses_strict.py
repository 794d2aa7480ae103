"""What Responses refuses: the strictest reading of the form, for requests that leave nothing at the server."""

import msgspec
from msgspec import UNSET

from tests.model_server.openai_chat_request import decode_arguments
from tests.model_server.openai_responses_request import (
    FunctionCall,
    FunctionCallOutput,
    Item,
    MessageItem,
    NamedFunction,
    OutputText,
    ReasoningItem,
    RefusalPart,
    ResponsesRequest,
    is_of_model,
    text_of,
)
from tests.model_server.openai_responses_seal import seal
from tests.model_server.openai_strict import check_schema, check_strict_schema, param_in
from tests.model_server.violation import Refused
from tests.model_server.wire_form import Body


def check(body: Body) -> ResponsesRequest:
    try:
        request = msgspec.convert(body, ResponsesRequest)
    except msgspec.ValidationError as wrong:
        raise Refused(str(wrong), param_in(str(wrong))) from wrong
    _check_turns(request.input)
    _check_results(request.input)
    _check_messages(request.input)
    _check_calls(request.input)
    _check_reasoning(request)
    _check_tools(request)
    _check_options(request)
    return request


def _check_turns(items: tuple[Item, ...]) -> None:
    spoken = previous_is_user = False
    for at, item in enumerate(items):
        is_user = isinstance(item, MessageItem) and item.role == "user"
        if isinstance(item, MessageItem) and item.role in ("system", "developer") and at:
            raise Refused("instructions come first or not at all", f"input[{at}].role")
        if is_user and previous_is_user:
            raise Refused("two user messages in a row", f"input[{at}].role")
        if is_of_model(item) and not spoken:
            raise Refused("the first item after the instructions must be a user's", f"input[{at}]")
        spoken = spoken or is_user
        previous_is_user = is_user
    if not previous_is_user and not isinstance(items[-1], FunctionCallOutput):
        raise Refused("the last item must be a user's or the output of a call", f"input[{len(items) - 1}]")


def _check_results(items: tuple[Item, ...]) -> None:
    """The calls of one answer come first, then all their results in the same order, then anything else."""
    unanswered: list[str] = []
    is_answering = False
    for at, item in enumerate(items):
        if isinstance(item, FunctionCallOutput):
            _check_result(item, unanswered, f"input[{at}].call_id")
            unanswered.pop(0)
            is_answering = True
            continue
        if unanswered and (is_answering or not is_of_model(item)):
            raise Refused(f"No tool output found for function call {unanswered[0]}.", f"input[{at}]")
        is_answering = False
        if isinstance(item, FunctionCall):
            unanswered.append(item.call_id)
    if unanswered:
        raise Refused(f"No tool output found for function call {unanswered[0]}.", "input")


def _check_result(item: FunctionCallOutput, unanswered: list[str], param: str) -> None:
    if not unanswered:
        raise Refused(f"No tool call found for function call output with call_id {item.call_id}.", param)
    if item.call_id != unanswered[0]:
        raise Refused(f"expected the output of {unanswered[0]!r}, got {item.call_id!r}", param)


def _check_messages(items: tuple[Item, ...]) -> None:
    for at, item in enumerate(items):
        if not isinstance(item, MessageItem) or isinstance(item.content, str):
            continue
        for index, part in enumerate(item.content):
            if isinstance(part, OutputText | RefusalPart) != (item.role == "assistant"):
                raise Refused(f"not for a message of {item.role}", f"input[{at}].content[{index}].type")
        if item.role == "assistant" and not text_of(item.content):
            raise Refused("an assistant message needs text", f"input[{at}].content")


def _check_calls(items: tuple[Item, ...]) -> None:
    seen: set[str] = set()
    for at, item in enumerate(items):
        if not isinstance(item, FunctionCall):
            continue
        if item.call_id in seen:
            raise Refused(f"a second call with the id {item.call_id!r}", f"input[{at}].call_id")
        seen.add(item.call_id)
        try:
            decode_arguments(item.arguments)
        except (msgspec.DecodeError, RecursionError) as wrong:
            raise Refused(f"not a JSON object: {wrong}", f"input[{at}].arguments") from wrong


def _check_reasoning(request: ResponsesRequest) -> None:
    for at, item in enumerate(request.input):
        if not isinstance(item, ReasoningItem):
            continue
        if item.encrypted_content is None:
            raise Refused(f"Item with id '{item.id}' not found: nothing is stored", f"input[{at}]", status=404)
        if request.store is not False:
            raise Refused("encrypted reasoning goes with store: false", "store")
        after = next((each for each in request.input[at:] if not isinstance(each, ReasoningItem)), None)
        summary = [part.text for part in item.summary]
        if item.encrypted_content not in {seal(request.model, summary, leads_to) for leads_to in _names(after)}:
            raise Refused(
                f"Item '{item.id}' of type 'reasoning' was changed, is another model's or was provided without its "
                "required following item.",
                f"input[{at}]",
            )


def _names(item: Item | None) -> list[str]:
    match item:
        case FunctionCall():
            return [item.call_id]
        case MessageItem() if item.role == "assistant":
            return [text_of(item.content)]
        case _:
            return []


def _check_tools(request: ResponsesRequest) -> None:
    seen: set[str] = set()
    for at, tool in enumerate(request.tools):
        if tool.name in seen:
            raise Refused(f"a second tool named {tool.name!r}", f"tools[{at}].name")
        seen.add(tool.name)
        if tool.parameters is not UNSET:
            check_schema(tool.parameters, f"tools[{at}].parameters")
            if tool.strict:
                check_strict_schema(tool.parameters, f"tools[{at}].parameters")
    if isinstance(request.tool_choice, NamedFunction) and request.tool_choice.name not in seen:
        raise Refused(f"no tool is named {request.tool_choice.name!r}", "tool_choice")


def _check_options(request: ResponsesRequest) -> None:
    if request.stream_options is not None and not request.stream:
        raise Refused("only with stream: true", "stream_options")
    if request.parallel_tool_calls is not None and not request.tools:
        raise Refused("only with tools", "parallel_tool_calls")
    if request.tool_choice is not None and not request.tools:
        raise Refused("only with tools", "tool_choice")
    if request.wants_sealed_reasoning and request.store is not False:
        raise Refused("encrypted reasoning goes with store: false", "store")
