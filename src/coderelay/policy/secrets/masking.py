"""Masks keys and passwords in tool output before it is stored, shown or sent.

Three kinds of values are hidden, also when encoded in base64: those in a known key format, those that look random
behind a name that says they are secret, and the secrets that this process itself holds. A secret that a command
encodes in another way is not found: masking is for accidents, the sandbox is for attacks (decision 0024).
"""

import re
from collections.abc import Iterable

import msgspec
from msgspec.structs import replace

from coderelay.policy.secrets.base64_text import hide_encoded
from coderelay.policy.secrets.key_formats import hide_key_formats
from coderelay.policy.secrets.named_secrets import hide_named
from coderelay.protocol.calls import Failed, Finished, Need, Outcome, Stopped

MARKER = r"\[hidden secret: [a-z ]+\]"
_CUT = r"\n\[\d+ bytes left out\]\n"
_LAST_WORD = re.compile(r"\S+\Z")
_FIRST_WORD = re.compile(r"\S+")
_MOST_IN_A_WORD = 200
_FEW_CHARACTERS = 2


class Secrets:
    def __init__(self, values: Iterable[str] = ()) -> None:
        """`values` are hidden wherever they occur, longer ones first because one may be part of another."""
        self._values: list[str] = []
        self.add(values)

    def add(self, values: Iterable[str]) -> None:
        spelled = {spelling for value in values for spelling in _spellings(value)}
        self._values = sorted({*self._values, *spelled}, key=len, reverse=True)

    def hide(self, text: str) -> str:
        """The text with its secrets masked. A text without secrets is returned as the same object, so that it keeps
        its template if it has one."""
        if not text:
            return text
        hidden = hide_encoded(self._hide_plain(text), lambda plain: self._hide_plain(plain) != plain)
        return text if hidden == text else hidden

    def _hide_plain(self, text: str) -> str:
        for value in self._values:
            if value in text:
                text = text.replace(value, "[hidden secret: configured]")
        if "PRIVATE KEY" in text:
            from coderelay.policy.secrets.private_keys import hide_private_keys  # few texts hold one

            text = hide_private_keys(text)
        return hide_named(hide_key_formats(text, _is_example), _is_example)

    def hide_outcome(self, outcome: Outcome) -> Outcome:
        match outcome:
            case Finished():
                hidden = replace(
                    outcome,
                    output=self.hide(_without_halves(outcome.output)),
                    errors=self.hide(_without_halves(outcome.errors)),
                    summary=self.hide(outcome.summary),
                )
                return hidden if hidden.summary == outcome.summary else replace(hidden, said=None)
            case Stopped():
                return replace(outcome, output=self.hide(_without_halves(outcome.output)))
            case Failed():
                hidden = replace(
                    outcome, message=self.hide(_without_halves(outcome.message)), summary=self.hide(outcome.summary)
                )
                is_same = hidden.message == outcome.message and hidden.summary == outcome.summary
                return hidden if is_same else replace(hidden, said=None)
            case _:
                return outcome

    def hide_need(self, need: Need) -> Need:
        """Masks the diff and the problem, which may quote the contents of files. The call itself stays as the model
        wrote it, because people decide on exactly that."""
        if not need.diff and need.problem is None:
            return need
        problem = None if need.problem is None else self.hide(need.problem)
        said = need.said if problem == need.problem else None
        return replace(need, diff=self.hide(need.diff), problem=problem, said=said)


def adds_marker(before: str, after: str) -> bool:
    """Whether an edit from `before` to `after` would write a mask marker into a file in place of the secret."""
    return len(re.findall(MARKER, after)) > len(re.findall(MARKER, before))


def _without_halves(text: str) -> str:
    """Removes the words beside a cut in an output: they may be halves of a secret, which no pattern finds."""
    cut = re.search(_CUT, text)
    if cut is None:
        return text
    last = _LAST_WORD.search(text, max(0, cut.start() - _MOST_IN_A_WORD), cut.start())
    first = _FIRST_WORD.match(text, cut.end(), cut.end() + _MOST_IN_A_WORD)
    head = text[: cut.start()] if last is None else f"{text[: last.start()]}…"
    tail = text[cut.end() :] if first is None else f"…{text[first.end() :]}"
    return f"{head}{cut.group()}{tail}"


def _spellings(value: str) -> set[str]:
    """The value as it is, percent-encoded as in a URL, and escaped as in JSON."""
    encoded = "".join(map(_percent_encoded, value))
    found = {value, encoded, encoded.replace("%20", "+"), msgspec.json.encode(value).decode()[1:-1]}
    if not value.isascii():
        from json import dumps  # it escapes non-ASCII letters, which few values have

        found.add(dumps(value)[1:-1])
    return found


def _percent_encoded(character: str) -> str:
    """Encodes as `urllib.parse.quote` does, which takes longer to import than this whole module."""
    if character.isascii() and (character.isalnum() or character in "_.-~"):
        return character
    return "".join(f"%{byte:02X}" for byte in character.encode(errors="replace"))


def _is_example(secret: str) -> bool:
    """Whether a key is a placeholder as in documentation: sk-xxxxxxxx, …EXAMPLE…. No generator makes such a key."""
    return len(set(secret[-16:])) <= _FEW_CHARACTERS or "example" in secret.lower()
