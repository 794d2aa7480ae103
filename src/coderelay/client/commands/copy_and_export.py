"""`/export` and `/copy`: take the conversation, or the last answer, out of a session."""

import os
import re
import time
from collections.abc import Iterable
from typing import Any

import msgspec

from coderelay.client.commands.slash_command import CONVERSATION, Context, SlashCommand
from coderelay.client.i18n import t
from coderelay.client.slash_results import TextToCopy
from coderelay.client.views.cowork_message_parser import blocks_of, read_message, result_content
from coderelay.protocol.bilingual_text import Localized
from coderelay.protocol.errors import BadInput
from coderelay.protocol.projected_rows import Summary
from coderelay.protocol.queries import ExportSession, ReadMessages, ShowSession
from coderelay.workspace.files.atomic_write import write_whole

_REPLACE = "!"
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


async def export(here: Context, rest: str) -> str:
    """An existing file is replaced only if `!` follows its name. Only the owner may read what is written."""
    replaces = rest.split()[-1:] == [_REPLACE]
    name = rest.removesuffix(_REPLACE).strip() if replaces else rest
    row = await here.client.get(ShowSession(here.session))
    path = os.path.join(row.cwd, os.path.expanduser(name or f"session-{row.id[:8]}.md"))
    content = await _content(here, row, path)
    try:
        if replaces:
            write_whole(path, content, 0o600)
        else:
            with os.fdopen(os.open(path, _NEW, 0o600), "wb") as file:
                file.write(content)
    except FileExistsError as error:
        again = f"/export {name} {_REPLACE}" if name else f"/export {_REPLACE}"
        raise BadInput(t("{path} already exists; replace it with {again}", path=path, again=again)) from error
    except OSError as error:
        raise BadInput(t("cannot write {path}: {why}", path=path, why=error.strerror)) from error
    return t("wrote {path}", path=path)


async def _content(here: Context, row: Summary, path: str) -> bytes:
    if path.endswith(".json"):
        exported = await here.client.get(ExportSession(here.session))
        return msgspec.json.format(msgspec.json.encode(exported), indent=1) + b"\n"
    found = await here.client.get(ReadMessages(here.session))
    return markdown(row, [read_message(each.data) for each in found.rows]).encode("utf-8", "replace")


async def copy(here: Context, _: str) -> TextToCopy:
    rows = (await here.client.get(ReadMessages(here.session))).rows
    answer = next((text for row in reversed(rows) if (text := _answer(msgspec.json.decode(row.data)))), "")
    if not answer:
        raise BadInput(t("there is no answer to copy yet"))
    return TextToCopy(answer)


def _answer(message: dict[str, Any]) -> str:
    """The text of a message, if the model wrote it."""
    if message.get("type") != "assistant":
        return ""
    blocks = message["message"]["content"]
    return "\n\n".join(each["text"].strip() for each in blocks if each["type"] == "text").strip()


COMMANDS = (
    SlashCommand(
        name="export",
        group=CONVERSATION,
        text=Localized(
            "write the conversation to a file: Markdown, or JSON if FILE ends in .json",
            "将对话写入文件：Markdown，若 FILE 以 .json 结尾则为 JSON",
        ),
        run=export,
        hint="[FILE] [!]",
        detail=Localized(
            "Writes a file that only you can read. An existing file is replaced only if ! follows its name.",
            "写入一个只有你能读取的文件；已存在的文件只有在名称后加 ! 时才会被替换。",
        ),
        example="/export talk.md !",
        completes="export file",
    ),
    SlashCommand(
        name="copy",
        group=CONVERSATION,
        text=Localized("copy the last answer to the clipboard", "将最近一次回答复制到剪贴板"),
        run=copy,
        detail=Localized(
            "Uses wl-copy, xclip or pbcopy if there is one, and asks the terminal (OSC 52), as over SSH.",
            "若有 wl-copy、xclip 或 pbcopy 则使用它们，并请求终端复制（OSC 52，通过 SSH 也可用）。",
        ),
    ),
)


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
        case {"type": "assistant" | "user"}:
            return [part for block in blocks_of(message) if (part := _block(block))]
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
        case {"type": "tool_use", "name": name, "input": dict()}:
            return f"**{name}**\n\n{_fenced(_arguments(block['input']))}"
        case {"type": "tool_result", "content": content}:
            return _fenced(result_content(content))
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
    """A code block, fenced with more backticks than the text has in a row."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text.rstrip()}\n{fence}"
