"""The token that a client must present, and the one-time links that a browser exchanges for it."""

import os
import re
import secrets
import stat
import time
from collections.abc import Callable
from contextlib import suppress

from coderelay.protocol.errors import BadInput, CannotRun
from coderelay.protocol.ids import new_id
from coderelay.protocol.translatable import say

_NAME = "web.token"
_BYTES = 32
_SHAPE = re.compile(r"[A-Za-z0-9._~-]{1,512}\Z")
"""What may stand in a header and in the name of a subprotocol."""
_MOST_BYTES = 600
_OTHERS = stat.S_IRWXG | stat.S_IRWXO

LINK_SECONDS = 600.0
_MOST_LINKS = 16
_MOST_GUESSES = 20
_GUESS_SECONDS = 10.0


def given_token(text: str) -> str:
    """The token that the person sets with CODER_TOKEN. Raises BadInput."""
    if not _SHAPE.match(text):
        raise BadInput(
            "CODER_TOKEN may have up to 512 letters, digits and - . _ ~ and nothing else",
            "Make a good one with `openssl rand -hex 32`, or remove CODER_TOKEN: then coder makes one itself.",
        )
    return text


def kept_token(home: str) -> str:
    """The token in the file `web.token` of the home, made the first time, so that pages still have the right one when
    the server starts again. One that other people could read is replaced. Raises CannotRun."""
    path = os.path.join(home, _NAME)
    try:
        os.makedirs(home, mode=0o700, exist_ok=True)
        for _ in range(10):  # another process may remove or make the file at the same time
            if token := _read(path):
                return token
            if token := _make(home, path):
                return token
    except OSError as error:
        raise CannotRun(
            say("cannot keep the token of the web server in {file}: {why}", file=path, why=error.strerror),
            "Check this file and its folder, or set CODER_TOKEN.",
        ) from error
    raise CannotRun(say("cannot keep the token of the web server in {file}", file=path), "Set CODER_TOKEN.")


def _read(path: str) -> str:
    """The token; empty if there is none that may be used, and then there is no file either. Raises OSError, also if
    the file is a link."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return ""
    with os.fdopen(file, "rb") as reader:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            raise PermissionError(1, "it is not a file of yours")
        text = reader.read(_MOST_BYTES).decode("ascii", "replace").strip()
    if _SHAPE.match(text) and not found.st_mode & _OTHERS:
        return text
    with suppress(FileNotFoundError):
        os.unlink(path)
    return ""


def _make(home: str, path: str) -> str:
    """A new token in a new file, which appears whole; empty if another process made one first."""
    token = secrets.token_urlsafe(_BYTES)
    draft = os.path.join(home, f".{_NAME}.{new_id()}")
    file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(file, "w") as writer:
            os.fchmod(file, 0o600)
            writer.write(f"{token}\n")
        os.link(draft, path)
    except FileExistsError:
        return ""
    finally:
        os.unlink(draft)
    return token


class Token:
    """Compares what clients present with the token, and gives it away for the secret of a one-time link.

    The right token always passes, however many wrong ones came before: nobody who can reach the port may lock the
    person out, and 256 bits are not guessed at any rate. Clients that go on with a wrong one are told to wait.
    """

    def __init__(self, text: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._text = text
        self._clock = clock
        self._links: dict[bytes, float] = {}  # when each secret expires, the oldest first
        self._guesses = 0
        self._guesses_since = clock()

    def matches(self, presented: str) -> bool:
        return self._is_right(secrets.compare_digest(presented.encode(), self._text.encode()))

    def new_secret(self) -> str:
        """The secret of a new one-time link. It may be used once, within ten minutes."""
        secret = secrets.token_urlsafe(_BYTES)
        self._links[secret.encode()] = self._clock() + LINK_SECONDS
        while len(self._links) > _MOST_LINKS:
            del self._links[next(iter(self._links))]
        return secret

    def redeem(self, secret: str) -> str | None:
        """The token, if the secret is that of a link that is still open. From then on the link is closed."""
        now, wanted = self._clock(), secret.encode()
        self._links = {each: until for each, until in self._links.items() if until > now}
        found = [each for each in self._links if secrets.compare_digest(each, wanted)]
        for each in found:
            del self._links[each]
        return self._text if self._is_right(bool(found)) else None

    @property
    def is_guessed_at(self) -> bool:
        """Whether so many wrong tokens came lately that their senders should be told to wait."""
        return self._guesses > _MOST_GUESSES and self._clock() - self._guesses_since < _GUESS_SECONDS

    def _is_right(self, right: bool) -> bool:
        if not right:
            now = self._clock()
            if now - self._guesses_since >= _GUESS_SECONDS:
                self._guesses, self._guesses_since = 0, now
            self._guesses += 1
        return right
