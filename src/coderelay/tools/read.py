"""read: a text file, whole or a range of lines, or an image."""

from base64 import b64encode

from msgspec import Struct

from coderelay.protocol.calls import Finished, Need, ToolSpec
from coderelay.protocol.content import Image
from coderelay.protocol.errors import ToolFailed
from coderelay.workspace.workspace import Workspace

_LINES = 2000
_LINE_CHARS = 2000
_SHOWN_CHARS = 50_000
_FILE_BYTES = 32 * 1024 * 1024
_IMAGE_BYTES = 5 * 1024 * 1024  # more is refused by most providers

_IMAGES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}


class ReadArguments(Struct, frozen=True, forbid_unknown_fields=True):
    path: str
    offset: int = 1
    limit: int = _LINES


class Read:
    spec = ToolSpec(
        name="read",
        description="Read a text file or an image. Lines come numbered; long files in parts: use offset and limit.",
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
    )
    arguments = ReadArguments

    def need(self, arguments: ReadArguments, workspace: Workspace) -> Need:
        path = workspace.files.resolve(arguments.path)
        return Need(tool="read", kind="read", title=arguments.path, paths=(path,))

    async def run(self, arguments: ReadArguments, workspace: Workspace) -> Finished:
        if arguments.offset < 1 or arguments.limit < 1:
            raise ToolFailed("offset and limit start at 1")
        content, size = workspace.files.read(arguments.path, _FILE_BYTES)
        kind = _image_kind(content)
        if kind is not None:
            return _image(kind, content, size)
        if b"\0" in content[:8192]:
            raise ToolFailed(f"{arguments.path} is a binary file of {size} bytes")
        lines = content.decode("utf-8", "replace").splitlines()
        first = arguments.offset - 1
        if first and first >= len(lines):
            raise ToolFailed(f"{arguments.path} has only {len(lines)} lines")
        part = _that_fits([_cut(line) for line in lines[first : first + arguments.limit]])
        last = first + len(part)
        shown = "\n".join(f"{number}\t{line}" for number, line in enumerate(part, first + 1))
        more = f"\n(lines {first + 1}-{last} of {len(lines)}; go on with offset={last + 1})"
        return Finished(
            output=shown + (more if last < len(lines) else "") if lines else "(empty file)",
            summary=f"{len(part)} lines",
            seen=(workspace.files.seen(arguments.path),),
        )


def _image_kind(content: bytes) -> str | None:
    """By what the file is, not by what it is called."""
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _IMAGES.items() if content.startswith(start)), None)


def _image(kind: str, content: bytes, size: int) -> Finished:
    if size > _IMAGE_BYTES:
        raise ToolFailed(f"the image has {size} bytes; {_IMAGE_BYTES} at most can be shown")
    image = Image(kind, b64encode(content).decode())
    return Finished(output=f"{kind}, {size} bytes", summary=f"{kind}, {size} bytes", images=(image,))


def _that_fits(lines: list[str]) -> list[str]:
    room = _SHOWN_CHARS
    for number, line in enumerate(lines):
        room -= len(line) + 8
        if room < 0:
            return lines[: max(number, 1)]
    return lines


def _cut(line: str) -> str:
    return line if len(line) <= _LINE_CHARS else f"{line[:_LINE_CHARS]}… ({len(line)} characters)"
