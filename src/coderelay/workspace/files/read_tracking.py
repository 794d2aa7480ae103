"""Tracks which files the model has read, and detects whether they have changed since."""

from collections.abc import Callable, Mapping

from coderelay.protocol.errors import ToolFailed
from coderelay.protocol.translatable import say
from coderelay.workspace.files.confined_files import FileContent

_FILES = 64
_BYTES = 8 * 1024 * 1024
_SHOWN_BYTES = 2000


class FileReadTracker:
    """The files that the model has seen. The log records them by their fingerprints. Their contents are cached in
    this process only, to show what has changed."""

    def __init__(self, fingerprints: Callable[[], Mapping[str, str]] | None = None) -> None:
        """`fingerprints` returns those that the log has now. Without a log, those recorded by `keep` are used."""
        self._kept: dict[str, str] = {}
        self._contents: dict[str, tuple[str, bytes]] = {}
        self._bytes = 0
        self.fingerprints: Callable[[], Mapping[str, str]] = fingerprints or (lambda: self._kept)

    def keep(self, path: str, fingerprint: str, data: bytes) -> None:
        """Record what the model has just been shown or has written."""
        self._kept[path] = fingerprint
        self._forget(path)
        self._contents[path] = (fingerprint, data)
        self._bytes += len(data)
        while self._bytes > _BYTES or len(self._contents) > _FILES:
            self._forget(next(iter(self._contents)))

    def never_read(self, path: str) -> bool:
        return not self.fingerprints().get(path)

    def check(self, path: str, content: FileContent, *, shown: str) -> None:
        """Raises ToolFailed if the file has changed since the model saw it. `shown` is its path for the message."""
        known, data = self.fingerprints().get(path), content.data
        if not known or known == content.fingerprint:
            return
        kept_fingerprint, before = self._contents.get(path, ("", b""))
        if kept_fingerprint != known:
            lines = data.count(b"\n") + (not data.endswith(b"\n") if data else 0)
            raise ToolFailed(
                say(
                    "{path} has changed since you read it: it has {count} lines now. Read it again.",
                    path=shown,
                    count=lines,
                )
            )
        if before != data:
            raise ToolFailed(
                say("{path} has changed since you read it:", path=shown),
                detail=f"{_change(before, data)}Read it again.",
            )

    def _forget(self, path: str) -> None:
        self._bytes -= len(self._contents.pop(path, ("", b""))[1])


def _change(before: bytes, after: bytes) -> str:
    if b"\0" in before + after:
        return f"it had {len(before)} bytes and has {len(after)}.\n"
    from coderelay.workspace.files.line_diff import count_changes, cut, differences, hunks, with_ends

    old, new = with_ends(before.decode("utf-8", "replace")), with_ends(after.decode("utf-8", "replace"))
    changes = differences(old, new)
    added, removed = count_changes(changes)
    return cut("".join(hunks(old, new, changes)), _SHOWN_BYTES) or f"+{added} -{removed}\n"
