"""Input history of all sessions, in a file of the person: one JSON object per line.

Going back shows the entries of this folder, the latest first, then those of other folders. Input that begins with a
space is not stored.
"""

import fcntl
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress

import msgspec
from msgspec import Struct
from prompt_toolkit.history import History

from coderelay.surfaces.terminal.input.pasted_text_and_images import FIRST, Attachments, as_text

MOST = 5000
_MOST_BYTES = 8 * 1024 * 1024
_ENTRY_BYTES = 256 * 1024
_SLACK = 500  # entries above MOST before the file is rewritten


class HistoryEntry(Struct, frozen=True, omit_defaults=True):
    """One input. `pasted` holds its long pastes; in `text`, the characters from FIRST on are their placeholders."""

    text: str
    folder: str
    time: int
    pasted: tuple[str, ...] = ()


class TypedHistory(History):
    """The history file, as prompt_toolkit uses it."""

    def __init__(self, file: str, folder: str, attachments: Attachments) -> None:
        super().__init__()
        self._file = file
        self._folder = folder
        self._attachments = attachments

    def load_history_strings(self) -> Iterable[str]:
        entries = list(read_entries(self._file))
        if len(entries) > MOST + _SLACK or _size(self._file) > 2 * _MOST_BYTES:
            shorten(self._file)
        entries = entries[-MOST:]
        here = [each for each in entries if each.folder == self._folder]
        elsewhere = [each for each in entries if each.folder != self._folder]
        last = ""
        for entry in (*reversed(here), *reversed(elsewhere)):
            text = self._shown(entry)
            if text != last:
                yield text
            last = text

    def append_string(self, string: str) -> None:
        if string.strip() and not string.startswith(" ") and string not in self._loaded_strings[:1]:
            super().append_string(string)

    def store_string(self, string: str) -> None:
        append_entry(self._file, self._entry(string))

    def _entry(self, string: str) -> HistoryEntry:
        pasted: list[str] = []
        text: list[str] = []
        for character in string:
            content = self._attachments.pasted(character)
            if content is None:
                text.append(self._attachments.label(character) or character)
            else:
                text.append(chr(FIRST + len(pasted)))
                pasted.append(content)
        return HistoryEntry(as_text("".join(text)), self._folder, int(time.time()), tuple(pasted))

    def _shown(self, entry: HistoryEntry) -> str:
        text = entry.text
        kept = [self._attachments.keep(each) for each in entry.pasted]
        return text.translate({FIRST + number: character for number, character in enumerate(kept)}) if kept else text


def read_entries(file: str) -> Iterator[HistoryEntry]:
    """The entries of a file, the oldest first. Invalid lines are skipped."""
    decoder = msgspec.json.Decoder(HistoryEntry)
    for line in _last_lines(file):
        with suppress(msgspec.MsgspecError, UnicodeDecodeError):  # a partial line, or an entry of a newer version
            yield decoder.decode(line)


def append_entry(file: str, entry: HistoryEntry) -> None:
    """Append an entry; safe when several processes do so at once. An entry that cannot be written, or is larger than
    256 KiB, is dropped."""
    line = msgspec.json.encode(entry) + b"\n"
    if len(line) > _ENTRY_BYTES:
        return
    with suppress(OSError):  # the input is sent even if it cannot be stored
        opened = _open_locked(file)
        try:
            size = os.fstat(opened).st_size
            torn = size > 0 and os.pread(opened, 1, size - 1) != b"\n"
            os.write(opened, b"\n" + line if torn else line)
        finally:
            os.close(opened)


def shorten(file: str) -> None:
    """Keep only the latest entries, in a new file that atomically replaces the old one."""
    with suppress(OSError):  # on failure, the file just stays long
        opened = _open_locked(file)
        try:
            lines = _last_lines(file)[-MOST:]
            new = f"{file}.{os.getpid()}"
            with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as out:
                out.writelines(line + b"\n" for line in lines)
            os.replace(new, file)
        finally:
            os.close(opened)


def _open_locked(file: str) -> int:
    """Open and lock the file. Until it is closed, no other process appends to it or replaces it."""
    while True:
        os.makedirs(os.path.dirname(file), mode=0o700, exist_ok=True)
        opened = os.open(file, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(opened, fcntl.LOCK_EX)
            if os.path.exists(file) and os.path.samestat(os.fstat(opened), os.stat(file)):
                return opened
        except BaseException:
            os.close(opened)
            raise
        os.close(opened)  # another process has replaced the file meanwhile


def _last_lines(file: str) -> list[bytes]:
    try:
        with open(file, "rb") as opened:
            skipped = max(0, _size(file) - _MOST_BYTES)
            opened.seek(skipped)
            lines = opened.read().splitlines()
    except OSError:
        return []
    return [line for line in (lines[1:] if skipped else lines) if line]


def _size(file: str) -> int:
    try:
        return os.path.getsize(file)
    except OSError:
        return 0
