"""Recognises tool calls and thoughts that a model wrote as plain text.

Some models or servers cannot make tool calls in any other way. Only a text that is a call and nothing else counts. An
answer may well be JSON, so a text that is not marked as a call must also fit the tool it names: every argument is one
that the tool has, and no required one is missing.
"""

import re
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from coderelay.models.model import Completion
from coderelay.protocol.calls import Call
from coderelay.protocol.ids import CallId
from coderelay.protocol.message_content import Thinking, text_of
from coderelay.protocol.tool_specs import ToolSpec

_FENCE = re.compile(r"```[\w-]*\s(.*)```", re.DOTALL)
_MARK = re.compile(r"<(tool_call|function_call)>(.*)</\1>", re.DOTALL)
_WRAPPINGS = 3
_NAMES = ("name", "tool", "function")
_ARGUMENTS = ("arguments", "parameters", "input", "args")
_KINDS = (b'"function"', b'"tool_call"', b'"function_call"', b'"tool_use"')
_fields = msgspec.json.Decoder(dict[str, Raw]).decode
_items = msgspec.json.Decoder(list[Raw]).decode
_text = msgspec.json.Decoder(str).decode


def with_text_call(completion: Completion, tools: Sequence[ToolSpec]) -> Completion:
    """The same message with its text turned into a call, if the text is one."""
    if completion.calls or not tools or completion.stop_reason == "refusal":
        return completion
    call = call_in_text(text_of(completion.blocks), tools)
    if call is None:
        return completion
    thoughts = tuple(block for block in completion.blocks if isinstance(block, Thinking))
    return replace(completion, blocks=thoughts, calls=(call,))


def call_in_text(text: str, tools: Sequence[ToolSpec]) -> Call | None:
    bare, marked = _unwrap(text.strip())
    if bare[:1] not in ("{", "["):
        return None
    try:
        call = _call(_single_object(bare))
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    tool = next((tool for tool in tools if call is not None and tool.name == call.name), None)
    if call is None or tool is None:
        return None
    return call if marked or _fits(call, tool) else None


def _unwrap(text: str) -> tuple[str, bool]:
    """The content of code fences and call tags, and whether a tag says that it is a call."""
    marked = False
    for _ in range(_WRAPPINGS):
        found = _FENCE.fullmatch(text) or _MARK.fullmatch(text)
        if found is None:
            break
        marked = marked or found.re is _MARK
        text = found[found.re.groups].strip()
    return text, marked


def _single_object(text: str) -> str | Raw:
    """The object itself, or the only one in a list."""
    if not text.startswith("["):
        return text
    items = _items(text)
    return items[0] if len(items) == 1 else ""


def _call(text: str | Raw) -> Call | None:
    fields = _fields(text)
    fields.pop("id", None)
    if bytes(fields.pop("type", _KINDS[0])) not in _KINDS:
        return None
    if len(fields) == 1 and "function" in fields:
        fields = _fields(fields["function"])
    names = [name for name in _NAMES if name in fields]
    arguments = [name for name in _ARGUMENTS if name in fields]
    if len(fields) != 2 or len(names) != 1 or len(arguments) != 1:
        return None
    return Call(CallId(""), _text(fields[names[0]]), _object(fields[arguments[0]]))


def _object(raw: Raw) -> str:
    """The JSON text of the arguments; some models write it into a string. Raises DecodeError if it is no object."""
    written = bytes(raw).decode()
    arguments = _text(written) if written.startswith('"') else written
    _fields(arguments)
    return arguments


def _fits(call: Call, tool: ToolSpec) -> bool:
    given = _fields(call.arguments).keys()
    known: dict[str, Any] = tool.parameters.get("properties", {})
    required: list[str] = tool.parameters.get("required", [])
    return given <= known.keys() and given >= set(required)
