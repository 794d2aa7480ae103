"""Keys and passwords in what tools bring: hidden before it is stored, shown or sent.

Hidden is what has the shape of a known kind of key, and the values that this process itself holds. What a command
encodes or spells otherwise is not found: this is for accidents, the sandbox is for attacks.
"""

import re
from collections.abc import Iterable, Mapping
from urllib.parse import unquote

from msgspec import Struct
from msgspec.structs import replace

from coderelay.protocol.calls import Failed, Finished, Need, Outcome, Stopped

MARKER = re.compile(r"\[hidden secret: [a-z ]+\]")
_NAME = re.compile(r"key|token|secret|passw|passphrase|credential|auth|cookie", re.IGNORECASE)
_PASSWORD = re.compile(r"://[^/?]*?:([^/?]+)@|\bpassword=([^&\s]+)", re.IGNORECASE)
_CUT = re.compile(r"\n\[\d+ bytes left out\]\n")
_LAST_WORD = re.compile(r"\S+\Z")
_FIRST_WORD = re.compile(r"\S+")
_MOST_IN_A_WORD = 200
_MOST_IN_A_BLOCK = 20_000
_FEW_CHARACTERS = 5


class Shape(Struct, frozen=True):
    """Looked for only where `hint` is, and made ready only then. Where the pattern has a group `secret`, only that
    part is hidden."""

    kind: str
    hint: str
    pattern: str


_START = r"(?<![A-Za-z0-9_-])"
_SHAPES = (
    Shape("anthropic key", "sk-ant-", _START + r"sk-ant-[A-Za-z0-9_-]{20,}"),
    Shape("api key", "sk-", _START + r"sk-(?:[a-z]{2,12}-)*[A-Za-z0-9_-]{20,}"),
    Shape("github token", "gh", _START + r"gh[pousr]_[A-Za-z0-9]{30,}"),
    Shape("github token", "github_pat_", _START + r"github_pat_[A-Za-z0-9_]{30,}"),
    Shape("gitlab token", "glpat-", _START + r"glpat-[A-Za-z0-9_-]{20,}"),
    Shape("slack token", "xox", _START + r"xox[abeoprs]-[A-Za-z0-9-]{20,}"),
    Shape("google key", "AIza", _START + r"AIza[A-Za-z0-9_-]{35}"),
    Shape("google token", "ya29.", _START + r"ya29\.[A-Za-z0-9_-]{30,}"),
    Shape("stripe key", "k_live_", _START + r"[sr]k_live_[A-Za-z0-9]{20,}"),
    Shape("npm token", "npm_", _START + r"npm_[A-Za-z0-9]{36}"),
    Shape("pypi token", "pypi-", _START + r"pypi-[A-Za-z0-9_-]{50,}"),
    Shape("hugging face token", "hf_", _START + r"hf_[A-Za-z0-9]{30,}"),
    Shape("web token", "eyJ", _START + r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{20,}"),
    Shape(
        "aws secret key",
        "ecret",
        r"(?i:aws_?secret_?access_?key)[\"']?\s{0,9}[=:]\s{0,9}[\"']?(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])",
    ),
    Shape(
        "password",
        "://",
        r"://[^/\s:@\"']{1,100}:(?P<secret>[^/\s:@\"'${<*]{6,200})@(?!localhost|127\.|0\.0\.0\.0|[^/\s.]*(?:[:/\s]|$))",
    ),
    Shape("bearer token", "earer ", r"(?i:authorization:\s*bearer)\s+(?P<secret>[A-Za-z0-9._~+/-]{20,}=*)"),
)
_BEGIN = re.compile(r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----")
_KEY_LINE = re.compile(r"[^\n]*[A-Za-z0-9+/=]{16}[^\n]*\n?|\s*\n")


class Secrets:
    def __init__(self, values: Iterable[str] = ()) -> None:
        """`values` are hidden wherever they are, the longer ones first: one may be a part of another."""
        self._values = sorted(set(values), key=len, reverse=True)

    def add(self, values: Iterable[str]) -> None:
        self._values = sorted({*self._values, *values}, key=len, reverse=True)

    def hide(self, text: str) -> str:
        for value in self._values:
            if value in text:
                text = text.replace(value, "[hidden secret: configured]")
        if "PRIVATE KEY" in text:
            text = _hide_key_blocks(text)
        for shape in _SHAPES:
            if shape.hint in text:
                text = re.sub(shape.pattern, lambda found, kind=shape.kind: _hidden(found, kind), text)
        return text

    def hide_outcome(self, outcome: Outcome) -> Outcome:
        match outcome:
            case Finished():
                return replace(
                    outcome,
                    output=self.hide(_without_halves(outcome.output)),
                    errors=self.hide(_without_halves(outcome.errors)),
                    summary=self.hide(outcome.summary),
                )
            case Stopped():
                return replace(outcome, output=self.hide(_without_halves(outcome.output)))
            case Failed():
                return replace(
                    outcome, message=self.hide(_without_halves(outcome.message)), summary=self.hide(outcome.summary)
                )
            case _:
                return outcome

    def hide_need(self, need: Need) -> Need:
        """What the model wrote stays as it is: people decide on exactly that. What stands around it in files does
        not."""
        if not need.diff and need.problem is None:
            return need
        problem = None if need.problem is None else self.hide(need.problem)
        return replace(need, diff=self.hide(need.diff), problem=problem)


def secret_values(environment: Mapping[str, str]) -> list[str]:
    """What is worth hiding, by its name and look: no paths, no plain words."""
    return worth_hiding(value for name, value in environment.items() if _NAME.search(name))


def worth_hiding(values: Iterable[str]) -> list[str]:
    """Of values that are meant to be secret."""
    return [value for value in values if _looks_secret(value)]


def passwords_in(address: str) -> list[str]:
    """Those of a database's address, as they are written there and as they are meant."""
    written = [first or second for first, second in _PASSWORD.findall(address)]
    return [*written, *map(unquote, written)]


def adds_marker(before: str, after: str) -> bool:
    """Would somebody who was shown the one and writes the other put a marker in place of a secret?"""
    return len(MARKER.findall(after)) > len(MARKER.findall(before))


def _without_halves(text: str) -> str:
    """Where the middle of an output is left out, the words beside it may be halves of a secret that nobody finds."""
    cut = _CUT.search(text)
    if cut is None:
        return text
    last = _LAST_WORD.search(text, max(0, cut.start() - _MOST_IN_A_WORD), cut.start())
    first = _FIRST_WORD.match(text, cut.end(), cut.end() + _MOST_IN_A_WORD)
    head = text[: cut.start()] if last is None else f"{text[: last.start()]}…"
    tail = text[cut.end() :] if first is None else f"…{text[first.end() :]}"
    return f"{head}{cut.group()}{tail}"


def _looks_secret(value: str) -> bool:
    if value.startswith(("/", "~", "./")) or "\n" in value.strip():
        return False
    mixed = any(each.isdigit() for each in value) and any(each.isalpha() for each in value)
    return len(value) >= 16 or (len(value) >= 8 and mixed)


def _hidden(found: re.Match[str], kind: str) -> str:
    secret = "secret" if "secret" in found.re.groupindex else 0
    if _is_example(found[secret]):
        return found[0]
    start, end = found.span(secret)
    return f"{found.string[found.start() : start]}[hidden secret: {kind}]{found.string[end : found.end()]}"


def _is_example(text: str) -> bool:
    """As documentation writes them: sk-xxxxxxxx, …EXAMPLE…"""
    return len(set(text[-16:])) <= _FEW_CHARACTERS or "example" in text.lower()


def _hide_key_blocks(text: str) -> str:
    """From the first line to the last; if that was cut off, as far as lines look like a key."""
    parts: list[str] = []
    at = 0
    while (begin := _BEGIN.search(text, at)) is not None:
        end = _END.search(text, begin.end(), begin.end() + _MOST_IN_A_BLOCK)
        stop = end.start() if end is not None else _end_of_key(text, begin.end())
        parts += [text[at : begin.end()], "[hidden secret: private key]" if stop > begin.end() else ""]
        at = stop
    return "".join([*parts, text[at:]])


def _end_of_key(text: str, at: int) -> int:
    at = text.find("\n", at) + 1 or len(text)
    while at < len(text) and (line := _KEY_LINE.match(text, at)) is not None and line.end() > at:
        at = line.end()
    return at
