"""Find and read the texts for agents (skills, custom commands, subagents) of a person and of a folder, nearest first.

The person's own texts count as they are, and their links may lead anywhere. Those of a folder count only as the
person has seen them, by the digest of each file, and no link may lead out of the folder.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal, Protocol, TypeVar

from msgspec import Struct

from coderelay.config.config_paths import text_folders
from coderelay.protocol.errors import BadInput, ToolFailed
from coderelay.protocol.text_escaping_and_width import display_path, escaped
from coderelay.protocol.translatable import apply_to_values, say
from coderelay.workspace.files.confined_files import ConfinedFiles, FolderEntry

TextKind = Literal["skills", "commands", "agents"]

MOST_BYTES = 64 * 1024
MOST_TEXTS = 100  # in one place
_MOST_NOTES = 20
_NOT_TRUSTED: dict[TextKind, str] = {
    "skills": "skills not trusted yet (review them with /trust): {paths}",
    "commands": "commands not trusted yet (review them with /trust): {paths}",
    "agents": "agents not trusted yet (review them with /trust): {paths}",
}


class TextFolder(Struct, frozen=True):
    """A place for texts. `folder` is the real path of the working folder that it belongs to; None for the person's
    own places."""

    path: str
    folder: str | None = None

    def key(self, path: str) -> str:
        """The name by which `trust` knows a text; empty for the person's own."""
        return "" if self.folder is None else os.path.relpath(path, self.folder)


class FoundText(Struct, frozen=True):
    """A file as it was read. `key` is empty for the person's own."""

    path: str
    key: str
    data: bytes

    @property
    def digest(self) -> str:
        from hashlib import sha256  # slow to load, and only folders' texts need it

        return sha256(self.data).hexdigest()

    def counts(self, seen: Mapping[str, str]) -> bool:
        """Whether the text may be used: it is the person's own, or exactly what the person has seen in the folder."""
        return not self.key or seen.get(self.key) == self.digest

    def decoded(self) -> str:
        try:
            text = self.data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise BadInput(say("it is not UTF-8: byte {number}", number=error.start + 1)) from error
        if "\0" in text:
            raise BadInput("it is not a text")
        return text


def places_of(kind: TextKind, *, home: str, user_home: str, folder: str) -> list[TextFolder]:
    """`home` is coder's home folder, `user_home` the person's. A place of the folder that is also one of the person's
    counts as the person's only."""
    real = os.path.realpath(folder)
    theirs, own = text_folders(kind, home=home, user_home=user_home, folder=real)
    mine = {os.path.realpath(path) for path in own}
    return [TextFolder(path, real) for path in theirs if os.path.realpath(path) not in mine] + [
        TextFolder(path) for path in own
    ]


def list_place(place: TextFolder, below: str = "") -> Iterator[tuple[str, bool]]:
    """The paths of the entries, sorted by name, and whether each is a folder. Raises BadInput."""
    path = os.path.join(place.path, below).rstrip(os.sep)
    for entry in _entries(place, path):
        inner = os.path.join(path, entry.name)
        yield inner, entry.kind == "folder" or (entry.kind == "link" and os.path.isdir(inner))


def _entries(place: TextFolder, path: str) -> list[FolderEntry]:
    if not os.path.lexists(path):
        return []
    real = os.path.realpath(path) if place.folder is None else path
    try:
        return ConfinedFiles([place.folder or real]).list(real)
    except ToolFailed as failed:
        raise _not_used(path, failed.message) from failed


def read_text(place: TextFolder, path: str, within: str | None = None) -> FoundText:
    """Read one text. `within` is a folder around the file, which no link may lead out of. Raises BadInput."""
    if not os.path.relpath(path, place.path).isprintable():  # a name that is not UTF-8 is not printable either
        raise _not_used(path, "its name cannot be shown")
    try:
        if within is not None:
            top = os.path.realpath(within) if place.folder is None else ConfinedFiles([place.folder]).target(within)
            real = os.path.join(top, os.path.relpath(path, within))
        else:
            real = os.path.realpath(path) if place.folder is None else path
            top = place.folder or os.path.dirname(real)
        found = ConfinedFiles([top]).read(real, MOST_BYTES)
    except ToolFailed as failed:
        raise _not_used(path, failed.message) from failed
    if found.size > MOST_BYTES:
        raise _not_used(path, say("it is larger than {count} bytes", count=MOST_BYTES))
    return FoundText(path, place.key(path), found.data)


def _not_used(path: str, why: str) -> BadInput:
    return BadInput(not_used(path, why))


def not_used(path: str, why: str) -> str:
    """The note about a file that is left out."""
    return say("{path} is not used: {problem}", path=display_path(path), problem=apply_to_values(escaped, why))


class NamedText(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def file(self) -> str: ...


T = TypeVar("T", bound=NamedText)


def gather(
    what: TextKind,
    places: Sequence[TextFolder],
    seen: Mapping[str, str],
    texts: Callable[[TextFolder, list[str]], Iterator[FoundText]],
    name_of: Callable[[TextFolder, str], str],
    make: Callable[[TextFolder, FoundText], T],
) -> tuple[tuple[T, ...], tuple[str, ...], tuple[str, ...]]:
    """Make skills or commands of the texts that count, for each name of the nearest one; notes for people about the
    others; and the names of those that the person does not trust, by their paths (`name_of`): nobody has read what
    is in them. `make` raises BadInput if a text is wrong."""
    found: dict[str, T] = {}
    notes: list[str] = []
    untrusted: dict[str, str] = {}
    for place in places:
        for text in texts(place, notes):
            if not text.counts(seen):
                untrusted[text.key] = name_of(place, text.path)
                continue
            try:
                made = make(place, text)
            except BadInput as refused:
                notes.append(complaint_about(text, refused))
                continue
            nearer = found.setdefault(made.name, made)
            if os.path.realpath(nearer.file) != os.path.realpath(made.file):
                used, other = display_path(nearer.file), display_path(made.file)
                notes.append(say("{name}: {path} is used, not {other}", name=made.name, path=used, other=other))
    if untrusted:
        paths = ", ".join(_bounded([*untrusted]))
        notes.insert(0, say(_NOT_TRUSTED[what], paths=paths))
    return tuple(found.values()), _bounded(notes), tuple(dict.fromkeys(untrusted.values()))


def complaint_about(text: FoundText, problem: BadInput) -> str:
    return not_used(text.path, str(problem))


def _bounded(notes: list[str]) -> tuple[str, ...]:
    more = len(notes) - _MOST_NOTES
    return tuple(notes) if more <= 0 else (*notes[:_MOST_NOTES], say("and {count} more", count=more))
