"""Reads an image from the clipboard with wl-paste, xclip or pngpaste, because terminals paste only text."""

import asyncio
import os
from contextlib import suppress

from msgspec import Struct

from coderelay.client.i18n import t
from coderelay.client.image_files import Picture, picture_of
from coderelay.protocol.errors import BadInput

_SECONDS = 3.0
_MOST = 64 * 1024 * 1024
_TYPES = ("image/png", "image/jpeg", "image/webp", "image/gif")


class _ClipboardProgram(Struct, frozen=True):
    """A clipboard program: its arguments that list the content types (`kinds`) and that print one type (`get`).
    `needs` is the environment variable of its display server."""

    program: str
    kinds: tuple[str, ...]
    get: tuple[str, ...]
    needs: str = ""


_WAYS = (
    _ClipboardProgram("wl-paste", ("--list-types",), ("--no-newline", "--type"), "WAYLAND_DISPLAY"),
    _ClipboardProgram(
        "xclip",
        ("-selection", "clipboard", "-o", "-t", "TARGETS"),
        ("-selection", "clipboard", "-o", "-t"),
        "DISPLAY",
    ),
    _ClipboardProgram("pngpaste", (), ("-",)),
)


async def clipboard_picture() -> Picture:
    """Raises BadInput if the clipboard holds no image, or no program can read it."""
    found = [(way, program) for way in _WAYS if (program := program_on_path(way.program, way.needs)) is not None]
    if not found:
        told = t(
            "pasting images needs wl-paste, xclip or pngpaste; you can also drag the file here or mention it with @"
        )
        raise BadInput(told)
    try:
        async with asyncio.timeout(_SECONDS):
            for way, program in found:
                if data := await _image(way, program):
                    return picture_of(data, t("clipboard"))
    except TimeoutError as error:
        raise BadInput(t("the clipboard is not responding")) from error
    raise BadInput(t("no image in the clipboard"))


async def _image(way: _ClipboardProgram, program: str) -> bytes:
    if not way.kinds:
        return await _said(program, *way.get)
    kinds = (await _said(program, *way.kinds)).decode(errors="replace").split()
    wanted = next((each for each in _TYPES if each in kinds), None)
    return b"" if wanted is None else await _said(program, *way.get, wanted)


async def _said(program: str, *arguments: str) -> bytes:
    """The output of a program, or nothing if it fails."""
    process = await asyncio.create_subprocess_exec(
        program,
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        said = await _all_of(process.stdout)
        return said if await process.wait() == 0 else b""
    finally:
        with suppress(ProcessLookupError):  # it has already ended
            process.kill()
        await process.wait()


async def _all_of(stream: asyncio.StreamReader) -> bytes:
    pieces: list[bytes] = []
    left = _MOST
    while left > 0 and (piece := await stream.read(1 << 16)):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def program_on_path(name: str, needs: str) -> str | None:
    """The path of a clipboard program, or None, also if the variable of its display (`needs`) is not set. Relative
    folders in PATH are ignored."""
    if needs and not os.environ.get(needs):
        return None
    folders = [each for each in os.environ.get("PATH", "").split(os.pathsep) if os.path.isabs(each)]
    paths = [os.path.join(each, name) for each in folders]
    return next((each for each in paths if os.path.isfile(each) and os.access(each, os.X_OK)), None)
