"""What an agent sends about a session: messages, tool calls, plans and settings, as the protocol writes them."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from coderelay.protocol.message_content import Image

Fields = dict[str, Any]
ToolKind = Literal["read", "edit", "search", "execute", "think", "fetch", "switch_mode", "other"]
Status = Literal["pending", "in_progress", "completed", "failed"]
Chunk = Literal["user_message_chunk", "agent_message_chunk", "agent_thought_chunk"]


def text_block(text: str) -> Fields:
    return {"type": "text", "text": text}


def image_block(image: Image) -> Fields:
    return {"type": "image", "data": image.data, "mimeType": image.media_type}


def chunk(kind: Chunk, content: Fields, message: str | None = None) -> Fields:
    """A piece of a message. Pieces with the same `message` id belong together."""
    return {"sessionUpdate": kind, "content": content} | ({} if message is None else {"messageId": message})


def tool_call(call: str, status: Status, **fields: Any) -> Fields:
    """A call that the client does not know yet. `fields` have a title."""
    return {"sessionUpdate": "tool_call", "toolCallId": call, "status": status, **fields}


def tool_call_update(call: str, status: Status, **fields: Any) -> Fields:
    """A change of a call: fields that are left out stay as they are, and a content replaces the one before."""
    return {"sessionUpdate": "tool_call_update", "toolCallId": call, "status": status, **fields}


def plan(entries: Iterable[tuple[str, str, str]]) -> Fields:
    """The whole plan: content, priority and status of each entry."""
    listed = [{"content": what, "priority": priority, "status": status} for what, priority, status in entries]
    return {"sessionUpdate": "plan", "entries": listed}


def usage(used: int, size: int, cost: float | None) -> Fields:
    """How many tokens of the model's window are used, and what the session has cost in US dollars."""
    spent = {} if cost is None else {"cost": {"amount": cost, "currency": "USD"}}
    return {"sessionUpdate": "usage_update", "used": used, "size": size, **spent}


def in_content(block: Fields) -> Fields:
    """A block as part of the content of a tool call."""
    return {"type": "content", "content": block}


def fenced(text: str) -> str:
    """A text that clients show as it is, and not as Markdown."""
    longest = max(map(len, re.findall("`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{text.rstrip(chr(10))}\n{fence}"


def diff_content(diff: str, paths: Sequence[str]) -> list[Fields]:
    """A unified diff as content of a tool call: one entry for each hunk, with the lines that it shows of before and
    after. `paths` are the absolute paths of the changed files, in the order of the diff. A diff in another form, or
    one that was cut, is shown as text."""
    found: list[Fields] = []
    files = re.split(r"^(?=--- (?:a/|/dev/null))", diff, flags=re.MULTILINE)[1:]
    if len(files) != len(paths):
        return _as_text(diff)
    for file, path in zip(files, paths, strict=True):
        head, *hunks = re.split(r"^@@ .*@@.*\n", file, flags=re.MULTILINE)
        is_new = head.startswith("--- /dev/null")
        for hunk in hunks:
            if (sides := _sides(hunk)) is None:
                return _as_text(diff)
            before, after = sides
            found.append({"type": "diff", "path": path, "newText": after} | ({} if is_new else {"oldText": before}))
    return found or _as_text(diff)


def _as_text(diff: str) -> list[Fields]:
    return [in_content(text_block(fenced(diff)))] if diff.strip() else []


def _sides(hunk: str) -> tuple[str, str] | None:
    """The text before and after; None if the hunk is not whole."""
    before: list[str] = []
    after: list[str] = []
    last: list[list[str]] = []
    for line in hunk.split("\n")[:-1]:
        match line[:1]:
            case " ":
                last = [before, after]
            case "-":
                last = [before]
            case "+":
                last = [after]
            case "\\":  # no newline at the end of the file
                for side in last:
                    side[-1] = side[-1].removesuffix("\n")
                continue
            case _:
                return None
        for side in last:
            side.append(f"{line[1:]}\n")
    return "".join(before), "".join(after)
