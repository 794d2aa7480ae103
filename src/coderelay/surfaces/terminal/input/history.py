"""What was typed before, in all sessions: one line of JSON for each in a file of the person's.

Going back shows what was typed in this folder, the latest first, then what was typed elsewhere. What begins with a
space is not kept.
"""

import fcntl
import os
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress

import msgspec
from msgspec import Struct
from prompt_toolkit.history import History

from coderelay.surfaces.terminal.input.attachments import FIRST, Attachments, as_text

MOST = 5000
_MOST_BYTES = 8 * 1024 * 1024
_ENTRY_BYTES = 256 * 1024
_SLACK = 500  # the file is not written anew for each entry too many


class HistoryEntry(Struct, frozen=True, omit_defaults=True):
    """`pasted` has the long pastes; in `text`, the characters from FIRST on stand for them."""

    text: str
    folder: str
    time: int
    pasted: tuple[str, ...] = ()


class TypedHistory(History):
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
    """The oldest first. What is no entry is passed over."""
    decoder = msgspec.json.Decoder(HistoryEntry)
    for line in _last_lines(file):
        with suppress(msgspec.MsgspecError, UnicodeDecodeError):  # torn, or of a newer version
            yield decoder.decode(line)


def append_entry(file: str, entry: HistoryEntry) -> None:
    """Beside others who do the same. What cannot be written, or is beyond all measure, is not kept."""
    line = msgspec.json.encode(entry) + b"\n"
    if len(line) > _ENTRY_BYTES:
        return
    with suppress(OSError):  # what was typed is sent all the same
        opened = _open_locked(file)
        try:
            size = os.fstat(opened).st_size
            torn = size > 0 and os.pread(opened, 1, size - 1) != b"\n"
            os.write(opened, b"\n" + line if torn else line)
        finally:
            os.close(opened)


def shorten(file: str) -> None:
    """Only the latest entries, in a new file that takes the place of the old one."""
    with suppress(OSError):  # it only grows
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
    """Until it is closed, nobody else appends or puts another file there."""
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
        os.close(opened)  # somebody has put another there meanwhile


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
