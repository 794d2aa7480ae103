"""Handles pasted text: sanitizes it, turns long texts into attachments, and reads pasted paths of image files."""

import os
import re
import shlex
from urllib.parse import unquote, urlsplit

from coderelay.client.image_files import SUFFIXES, read_picture
from coderelay.protocol.errors import BadInput
from coderelay.surfaces.terminal.input.attachments import FIRST, LAST, Attachments

_LINES = 10
_CHARACTERS = 1000
_MOST_NAMES = 8192  # longest text, in characters, that is checked for file names

_SEQUENCES = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\|$)"  # OSC, such as window titles
    r"|\x1b[PX^_][^\x1b]*(?:\x1b\\|$)"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|\x1b[ -/]*[0-~]?"
)
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_OURS = re.compile(f"[{chr(FIRST)}-{chr(LAST)}]")


def take_paste(text: str, attachments: Attachments) -> tuple[str, list[str]]:
    """The text to insert into the buffer, and messages about image files that could not be read."""
    text = harmless(text)
    if (paths := image_paths(text)) is not None:
        try:
            pictures = [read_picture(path, os.path.basename(path)) for path in paths]
        except BadInput as refusal:
            return text, [refusal.message]
        return " ".join(map(attachments.keep, pictures)) + " ", []
    return (attachments.keep(text), []) if is_long(text) else (text, [])


def is_long(text: str) -> bool:
    return len(text) > _CHARACTERS or text.count("\n") >= _LINES


def harmless(text: str) -> str:
    """The text without escape sequences and control characters, with placeholder characters replaced and LF line
    ends."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _OURS.sub("\ufffd", _CONTROLS.sub("", _SEQUENCES.sub("", text)))


def image_paths(text: str) -> list[str] | None:
    """The paths of existing image files, if the text consists only of these, as a file manager or a shell writes
    them."""
    text = text.strip()
    if len(text) > _MOST_NAMES or not any(suffix in text.lower() for suffix in SUFFIXES):
        return None
    if (whole := _path(text)) is not None:
        return [whole]
    try:
        words = shlex.split(text)
    except ValueError:
        return None
    paths = [_path(word) for word in words]
    return [path for path in paths if path is not None] if all(paths) else None


def _path(name: str) -> str | None:
    if name.startswith("file://"):
        name = unquote(urlsplit(name).path)
    path = os.path.expanduser(name)
    is_image = os.path.isabs(path) and path.lower().endswith(SUFFIXES) and "\0" not in path
    return path if is_image and os.path.isfile(path) else None
