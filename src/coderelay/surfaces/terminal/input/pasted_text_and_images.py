"""Attachments of a prompt: long pastes and images, each one character in the input buffer.

So the cursor passes an attachment in one step, and one key deletes it. `Placeholders` shows such a character as a
label, `[pasted #1: 2,000 lines]`; `Attachments.prepare` replaces it by its content.
"""

import asyncio
import os
import re
import shlex
from bisect import bisect_right
from collections.abc import Sequence
from urllib.parse import unquote, urlsplit

from msgspec import Struct
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.formatted_text.utils import fragment_list_to_text
from prompt_toolkit.layout.processors import Processor, Transformation, TransformationInput
from prompt_toolkit.layout.utils import explode_text_fragments

from coderelay.client.i18n import t
from coderelay.client.image_files import SUFFIXES, Picture, read_picture
from coderelay.protocol.errors import BadInput
from coderelay.protocol.message_content import Image
from coderelay.surfaces.terminal.input.mention_syntax import Mention, mentions

FIRST, LAST = 0x108000, 0x10FFFD  # private use characters that no font we know of uses
STYLE = "class:attachment fg:ansicyan"


class PreparedPrompt(Struct, frozen=True):
    """A prompt as it is sent. `notes` are messages about images that could not be attached."""

    text: str
    images: tuple[Image, ...] = ()
    notes: tuple[str, ...] = ()


class Attachments:
    """The attachments of this terminal, by their placeholder characters."""

    def __init__(self) -> None:
        self._kept: dict[str, str | Picture] = {}
        self._labels: dict[str, str] = {}
        self._numbers = {"text": 0, "picture": 0}

    def keep(self, content: str | Picture) -> str:
        """The placeholder character for a content. When all characters are used up, a text is returned as it is."""
        for character, known in self._kept.items():
            if known == content:
                return character
        code = FIRST + len(self._kept)
        if code > LAST:
            return content if isinstance(content, str) else ""
        self._kept[chr(code)] = content
        return chr(code)

    def label(self, character: str) -> str | None:
        """The label of a placeholder character; None for any other character. Numbers are assigned when a label is
        first shown."""
        content = self._kept.get(character)
        if content is None:
            return None
        if character not in self._labels:
            self._labels[character] = self._new_label(content)
        return self._labels[character]

    def has_any(self, text: str) -> bool:
        return any(each in self._kept for each in text)

    def pasted(self, character: str) -> str | None:
        content = self._kept.get(character)
        return content if isinstance(content, str) else None

    def plain(self, text: str) -> str:
        """The text with pastes in full, and images as their labels."""
        return "".join(self._plain(each) for each in text)

    def fold(self, text: str) -> str:
        """The inverse of `plain`: known pastes and labels in the text become placeholder characters again."""
        for character, content in self._kept.items():
            shown = content if isinstance(content, str) else self._labels.get(character)
            if shown:
                text = text.replace(shown, character)
        return text

    async def prepare(self, text: str, folder: str) -> PreparedPrompt:
        """The buffer's text, ready to send. Mentions of image files, relative to `folder`, become images."""
        text, notes = await asyncio.to_thread(self._with_mentioned, text, folder)
        content = [self._kept.get(each) for each in text]
        images = tuple(each.image for each in content if isinstance(each, Picture))
        return PreparedPrompt(as_text(self.plain(text)), images, tuple(notes))

    def _with_mentioned(self, text: str, folder: str) -> tuple[str, Sequence[str]]:
        notes: list[str] = []
        for each in reversed(mentions(text)):
            path = os.path.join(folder, os.path.expanduser(each.path))
            if not each.path.lower().endswith(SUFFIXES) or not os.path.exists(path):
                continue
            try:
                picture = read_picture(path, each.path)
            except BadInput as refusal:
                notes.insert(0, refusal.message)
            else:
                text = _replaced(text, each, self.keep(picture))
        return text, notes

    def _plain(self, character: str) -> str:
        content = self._kept.get(character)
        return content if isinstance(content, str) else self.label(character) or character

    def _new_label(self, content: str | Picture) -> str:
        if isinstance(content, Picture):
            self._numbers["picture"] += 1
            return t("[image #{number}: {what}]", number=self._numbers["picture"], what=content.described)
        self._numbers["text"] += 1
        number, lines = self._numbers["text"], len(content.splitlines())
        if lines > 1:
            return t("[pasted #{number}: {lines} lines]", number=number, lines=f"{lines:,}")
        return t("[pasted #{number}: {characters} characters]", number=number, characters=f"{len(content):,}")


def as_text(typed: str) -> str:
    """Replace lone surrogates: input bytes that are not valid UTF-8 arrive as these, and they can be neither stored
    nor sent."""
    return typed.encode("utf-8", "replace").decode()


def _replaced(text: str, mention: Mention, by: str) -> str:
    return text[: mention.start] + by + text[mention.end :]


class Placeholders(Processor):
    """Shows placeholder characters as their labels in the input."""

    def __init__(self, attachments: Attachments) -> None:
        self._attachments = attachments

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        fragments = transformation_input.fragments
        if not self._attachments.has_any(fragment_list_to_text(fragments)):
            return Transformation(fragments)
        shown: StyleAndTextTuples = []
        starts: list[int] = []
        at = 0
        for style, character, *_ in explode_text_fragments(fragments):
            label = self._attachments.label(character)
            shown.append((style, character) if label is None else (f"{style} {STYLE}", label))
            starts.append(at)
            at += len(character if label is None else label)
        starts.append(at)
        last = len(starts) - 1

        def to_display(position: int) -> int:
            return starts[position] if position <= last else at + position - last

        def to_source(position: int) -> int:
            return min(bisect_right(starts, position) - 1, last) if position <= at else last + position - at

        return Transformation(shown, source_to_display=to_display, display_to_source=to_source)


_PASTED_LINES = 10
_PASTED_CHARACTERS = 1000
_MOST_NAMES = 8192  # longest text, in characters, that is checked for file names
_ESCAPE_SEQUENCES = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\|$)"  # OSC, such as window titles
    r"|\x1b[PX^_][^\x1b]*(?:\x1b\\|$)"
    r"|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?"
    r"|\x1b[ -/]*[0-~]?"
)
_CONTROL_CHARACTERS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_PLACEHOLDER_CHARACTERS = re.compile(f"[{chr(FIRST)}-{chr(LAST)}]")


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
    return len(text) > _PASTED_CHARACTERS or text.count("\n") >= _PASTED_LINES


def harmless(text: str) -> str:
    """The text without escape sequences and control characters, with placeholder characters replaced and LF line
    ends."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return _PLACEHOLDER_CHARACTERS.sub("\ufffd", _CONTROL_CHARACTERS.sub("", _ESCAPE_SEQUENCES.sub("", text)))


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
