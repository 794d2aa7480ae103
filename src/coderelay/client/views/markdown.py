"""A session as a Markdown document, from the messages of the Cowork contract."""

import re
import time
from collections.abc import Iterable
from typing import Any

import msgspec

from coderelay.client.language import t
from coderelay.protocol.summary import Summary


def markdown(row: Summary, messages: Iterable[dict[str, Any]]) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(row.created_at / 1000))
    head = [
        f"# {row.title or row.id}",
        f"{t('session')} `{row.id}` · {row.model} · `{row.cwd}` · {when}",
    ]
    parts = [part for message in messages for part in _parts(message)]
    return "\n\n".join([*head, *parts]) + "\n"


def _parts(message: dict[str, Any]) -> list[str]:
    match message:
        case {"type": "user_prompt", "prompt": prompt}:
            return [f"## {t('Prompt')}", str(prompt).strip()]
        case {"type": "assistant" | "user", "message": {"content": content}}:
            return [part for block in content if (part := _block(block))]
        case {"type": "result", "error": error}:
            return [f"**{t('failed')}**: {error}"]
        case _:
            return []


def _block(block: dict[str, Any]) -> str:
    match block:
        case {"type": "text", "text": text}:
            return str(text).strip()
        case {"type": "thinking", "thinking": thinking}:
            return "\n".join(f"> {line}".rstrip() for line in str(thinking).strip().splitlines())
        case {"type": "tool_use", "name": name, "input": arguments}:
            return f"**{name}**\n\n{_fenced(_arguments(arguments))}"
        case {"type": "tool_result", "content": content}:
            return _fenced(str(content))
        case _:
            return ""


def _arguments(arguments: dict[str, Any]) -> str:
    if arguments.keys() == {"command"}:
        return str(arguments["command"])
    return "\n".join(f"{name}:{_value(value)}" for name, value in arguments.items())


def _value(value: object) -> str:
    if not isinstance(value, str):
        return f" {msgspec.json.encode(value).decode()}"
    return f"\n{value.rstrip()}" if "\n" in value else f" {value}"


def _fenced(text: str) -> str:
    """By more marks than it has in a row itself."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text.rstrip()}\n{fence}"
