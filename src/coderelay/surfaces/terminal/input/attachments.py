"""Long pastes and images: in the buffer each is one character, so that it moves and goes as one.

`placeholders` shows such a character by its label, `[pasted #1: 2,000 lines]`; `prepare` puts in what it stands for.
"""

import asyncio
import os
from bisect import bisect_right
from collections.abc import Sequence

from msgspec import Struct
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.formatted_text.utils import fragment_list_to_text
from prompt_toolkit.layout.processors import Processor, Transformation, TransformationInput
from prompt_toolkit.layout.utils import explode_text_fragments

from coderelay.client.language import t
from coderelay.client.pictures import SUFFIXES, Picture, read_picture
from coderelay.protocol.content import Image
from coderelay.protocol.errors import BadInput
from coderelay.surfaces.terminal.input.completion_sources import Mention, mentions

FIRST, LAST = 0x108000, 0x10FFFD  # for private use, and not used by any font we know of
STYLE = "class:attachment fg:ansicyan"


class Prepared(Struct, frozen=True):
    """A prompt as it is sent. `notes` say what was not taken along."""

    text: str
    images: tuple[Image, ...] = ()
    notes: tuple[str, ...] = ()


class Attachments:
    def __init__(self) -> None:
        self._kept: dict[str, str | Picture] = {}
        self._labels: dict[str, str] = {}
        self._numbers = {"text": 0, "picture": 0}

    def keep(self, content: str | Picture) -> str:
        """The character for it; a long text that has none any more stands for itself."""
        for character, known in self._kept.items():
            if known == content:
                return character
        code = FIRST + len(self._kept)
        if code > LAST:
            return content if isinstance(content, str) else ""
        self._kept[chr(code)] = content
        return chr(code)

    def label(self, character: str) -> str | None:
        """What is shown for a character; None if it is like any other. Numbers are given out as labels are shown."""
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
        """With pastes in full, and images by their labels."""
        return "".join(self._plain(each) for each in text)

    def fold(self, text: str) -> str:
        """A plain text with what is known of it as characters again: the opposite of `plain`."""
        for character, content in self._kept.items():
            shown = content if isinstance(content, str) else self._labels.get(character)
            if shown:
                text = text.replace(shown, character)
        return text

    async def prepare(self, text: str, folder: str) -> Prepared:
        """`text` is the buffer's, `folder` what mentions begin at: those of images become images."""
        text, notes = await asyncio.to_thread(self._with_mentioned, text, folder)
        content = [self._kept.get(each) for each in text]
        images = tuple(each.image for each in content if isinstance(each, Picture))
        return Prepared(as_text(self.plain(text)), images, tuple(notes))

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
    """Bytes that are no text reach us as half characters, which can be neither kept nor sent."""
    return typed.encode("utf-8", "replace").decode()


def _replaced(text: str, mention: Mention, by: str) -> str:
    return text[: mention.start] + by + text[mention.end :]


class Placeholders(Processor):
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
