"""The `read` tool: reads a text file (whole or a range of lines), a notebook or an image."""

import re
from base64 import b64encode
from typing import Any

import msgspec
from msgspec import Struct

from coderelay.protocol.calls import Finished, Need, Seen
from coderelay.protocol.errors import ToolFailed
from coderelay.protocol.message_content import Image
from coderelay.protocol.tool_specs import ToolSpec
from coderelay.protocol.translatable import say
from coderelay.tools.editing.text_encoding import lines_of, text_file
from coderelay.workspace.files.confined_files import FileContent
from coderelay.workspace.workspace import Workspace

_LINES = 2000
_LINE_CHARS = 2000
_SHOWN_CHARS = 50_000
_FILE_BYTES = 32 * 1024 * 1024
_STARTS = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}
MOST_BYTES = 5 * 1024 * 1024 * 3 // 4  # 5 MB in base64; more is refused by most providers
_OUTPUT_LINES = 20
_OUTPUT_CHARS = 2000
_NUMBERED = r"(?m)^\d+\t"


def without_line_numbers(output: str) -> str:
    """The lines as they are in the file. A small model writes the numbers into the file."""
    return re.sub(_NUMBERED, "", output)


class ReadArguments(Struct, frozen=True, forbid_unknown_fields=True):
    path: str
    offset: int = 1
    limit: int = _LINES


class Read:
    spec = ToolSpec(
        name="read",
        description="Read a text file, a notebook or an image. Lines come numbered; long files in parts: use offset "
        "and limit.",
        parameters={
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "relative to the workspace"},
                "offset": {"type": "integer", "description": "first line, from 1"},
                "limit": {"type": "integer", "description": f"how many lines, {_LINES} if left out"},
            },
            "required": ["path"],
            "additionalProperties": False,
        },
        external_name="Read",
        external_arguments={"path": "file_path"},
        rule_target="path",
        for_small_models=True,
        result_for_small_models=without_line_numbers,
        headline="path",
        result_shown="summary",
        chinese="读取文本文件、notebook 或图片。",
        chinese_results={
            "1 line": "1 行",
            "{count} lines": "{count} 行",
            "offset and limit must be at least 1": "offset 和 limit 从 1 开始",
            "{path} has only 1 line": "{path} 只有 1 行",
            "{path} has only {count} lines": "{path} 只有 {count} 行",
            "{path} is a binary file of {count} bytes": "{path} 是 {count} 字节的二进制文件",
        },
    )
    arguments = ReadArguments

    def need(self, arguments: ReadArguments, workspace: Workspace) -> Need:
        path = workspace.disk.locate(arguments.path)
        return Need(tool="read", kind="read", title=workspace.disk.relative(path), paths=(path,))

    async def run(self, arguments: ReadArguments, workspace: Workspace) -> Finished:
        if arguments.offset < 1 or arguments.limit < 1:
            raise ToolFailed("offset and limit must be at least 1")
        path = workspace.disk.locate(arguments.path)
        content = await workspace.files.read(arguments.path, _FILE_BYTES)
        kind = image_kind(content.data)
        if kind is not None:
            return _image(kind, content)
        shown = workspace.disk.relative(path)
        lines, note = _lines(shown, content)
        workspace.known.keep(path, content.fingerprint, content.data)
        return _part(shown, lines, note, arguments, Seen(path, content.fingerprint))


def _lines(shown: str, content: FileContent) -> tuple[list[str], str]:
    """Return the lines as they are shown, and a note on the file (encoding, notebook, truncation), if there is
    one."""
    whole = content.size <= len(content.data)
    file = text_file(content.data, whole=whole)
    if file is None:
        raise ToolFailed(say("{path} is a binary file of {count} bytes", path=shown, count=content.size))
    notes = [file.note] if file.note else []
    text = file.shown
    if shown.endswith(".ipynb") and (cells := notebook_text(text)) is not None:
        notes.append("a notebook, shown as text: edit and write see its JSON")
        text = cells
    if not whole:
        notes.append(f"only the first {len(content.data)} of {content.size} bytes can be read")
    return lines_of(text), "; ".join(notes)


def _part(shown: str, lines: list[str], note: str, arguments: ReadArguments, seen: Seen) -> Finished:
    first = arguments.offset - 1
    if first and first >= len(lines):
        if len(lines) == 1:
            raise ToolFailed(say("{path} has only 1 line", path=shown))
        raise ToolFailed(say("{path} has only {count} lines", path=shown, count=len(lines)))
    part = _that_fits([_cut(line) for line in lines[first : first + arguments.limit]])
    last = first + len(part)
    said = [f"lines {first + 1}-{last} of {len(lines)}; go on with offset={last + 1}"] if last < len(lines) else []
    said += [note] if note else []
    numbered = [f"{number}\t{line}" for number, line in enumerate(part, first + 1)] or ["(empty file)"]
    return Finished(
        output="\n".join([*numbered, *(f"({each})" for each in said)]), summary=_count(len(part)), seen=(seen,)
    )


def _count(lines: int) -> str:
    return "1 line" if lines == 1 else say("{count} lines", count=lines)


def _image(kind: str, content: FileContent) -> Finished:
    if content.size > MOST_BYTES:
        raise ToolFailed(
            say("the image has {count} bytes; {most} at most can be shown", count=content.size, most=MOST_BYTES)
        )
    image = Image(kind, b64encode(content.data).decode())
    said = say("{kind}, {count} bytes", kind=kind, count=content.size)
    return Finished(output=said, summary=said, images=(image,))


def _that_fits(lines: list[str]) -> list[str]:
    room = _SHOWN_CHARS
    for number, line in enumerate(lines):
        room -= len(line) + 8
        if room < 0:
            return lines[: max(number, 1)]
    return lines


def _cut(line: str) -> str:
    return line if len(line) <= _LINE_CHARS else f"{line[:_LINE_CHARS]}… ({len(line)} characters)"


def image_kind(content: bytes) -> str | None:
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _STARTS.items() if content.startswith(start)), None)


class _Output(msgspec.Struct, frozen=True):
    """An output of a notebook cell, with the fields of all four kinds of outputs."""

    output_type: str = ""
    text: str | list[str] = ""
    data: dict[str, Any] = {}
    ename: str = ""
    evalue: str = ""


class _Cell(msgspec.Struct, frozen=True):
    cell_type: str
    source: str | list[str] = ""
    outputs: list[_Output] = []


class _Notebook(msgspec.Struct, frozen=True):
    cells: list[_Cell]


def notebook_text(text: str) -> str | None:
    """The cells and outputs of a notebook as text; None if it is not in the notebook format usual since 2013."""
    try:
        notebook = msgspec.json.decode(text, type=_Notebook)
    except (msgspec.DecodeError, RecursionError):
        return None
    return "\n".join(_cell(number, cell) for number, cell in enumerate(notebook.cells, 1)) + "\n"


def _cell(number: int, cell: _Cell) -> str:
    parts = [f"[cell {number}, {cell.cell_type}]", _joined(cell.source)]
    outputs = [_output(each) for each in cell.outputs]
    if outputs:
        parts += [f"[output of cell {number}]", *outputs]
    return "\n".join(part.rstrip("\n") for part in parts)


def _output(output: _Output) -> str:
    if output.ename:
        return _short(f"{output.ename}: {output.evalue}")
    text = _joined(output.text)
    plain = output.data.get("text/plain", "")
    if not text and isinstance(plain, str | list):
        text = _joined(plain)  # type: ignore[arg-type]
    others = ", ".join(kind for kind in output.data if kind != "text/plain")
    return _short(text) + (f"\n({others})" if others else "")


def _joined(text: str | list[str]) -> str:
    return text if isinstance(text, str) else "".join(text)


def _short(text: str) -> str:
    lines = text.rstrip("\n").split("\n")
    kept = "\n".join(lines[:_OUTPUT_LINES])[:_OUTPUT_CHARS]
    return kept if len(kept) == len(text.rstrip("\n")) else f"{kept}\n… ({len(lines)} lines in all)"
