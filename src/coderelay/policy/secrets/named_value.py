"""What stands behind a name that says it is secret.

A name alone proves little: most of what source code assigns to `token` or `password` is no secret. So the value must
look as if a machine had made it. Only a variable in capitals (`DB_PASSWORD=…`) is believed with less.
"""

import re
from itertools import pairwise

from msgspec import Struct

from coderelay.policy.secrets.base64_text import decoded

_WEAK = ("auth", "sig", "signature")
"""A variable with such a name often holds something else."""

_KEY_OF = re.compile(
    r"(?i)(?:api|access|secret|private|auth|account|signing|encryption|encrypt|master|client|app|service|subscription"
    r"|storage|consumer|license|deploy|admin|webhook|functions)[_.-]?\Z"
)
_NAME = re.compile(r"[A-Za-z0-9_.-]{0,60}\Z")
_ASSIGNED = re.compile(
    r"""\\{0,3}["'\]]?[ \t]{0,8}(?:=>|:=|=|:)[ \t]{0,8}\\{0,3}["'`]?(?:(?:[Bb]asic|[Tt]oken) {1,4})?"""
    r"(?P<secret>[A-Za-z0-9+/_.~%-]{8,4000}={0,2})"
)
_VARIABLE = re.compile(
    r"""=(?:"(?P<double>[^"\n]{8,500})"|'(?P<single>[^'\n]{8,500})'|(?P<plain>[^\s"'`=]{8,500}={0,2}))"""
)
_BEARER = re.compile(r" {1,4}(?P<secret>[A-Za-z0-9._~+/-]{20,4000}={0,2})")
# `settings.TOKEN` and `Ed25519PrivateKey`
_CODE = re.compile(r"[A-Za-z_]\w{0,40}(?:\.[A-Za-z_]\w{0,40}){1,9}|(?:[A-Z][a-z]+[0-9]*){2,8}")
_LOGIN = re.compile(r"[^\s:]{1,100}:\S{3,200}")
_NO_SECRET = re.compile(
    r"(?i)example|change.?me|your|placeholder|dummy|sample|redacted|xxxx|\.\.\.|insert|replace|test|fake|mock"
    r"|\$[({\w]|^[/~.]|://|[<>(){}\[\]]"
)
_TWO_DIGITS = re.compile(r"[0-9][^0-9]*+[0-9]")
_FEWEST = 16
_FEWEST_IN_ADDRESS = 12
_TURNS = 0.25


class Value(Struct, frozen=True):
    kind: str
    start: int
    end: int


def value_at(text: str, end: int, word: str) -> Value | None:
    if word == "bearer":
        found = _BEARER.match(text, end)
        return Value("bearer token", *found.span("secret")) if found and is_random(found["secret"]) else None
    if text[end] == "=" and text[end - 1].isupper() and (value := _value_of_variable(text, end, word)) is not None:
        return value
    found = _ASSIGNED.match(text, end)
    if found is None or text[found.end() : found.end() + 1] in ("(", "[", "{", "<", "$"):
        return None
    secret = found["secret"]
    name = _name(text, end)
    start = end - len(name)
    if text[start - 1 : start] in ("?", "&"):
        believed = is_random(secret) or (len(secret) >= _FEWEST_IN_ADDRESS and _is_mixed(secret))
    elif word in ("auth", "authorization"):
        believed = is_random(secret) or _is_login(secret)
    else:
        believed = is_random(secret) and not _CODE.fullmatch(secret) and (word != "key" or _is_secret_key(name))
    return Value("value", *found.span("secret")) if believed else None


def is_random(value: str) -> bool:
    """Letters and digits follow each other as a generator makes them, not as in words, names and dates."""
    if _TWO_DIGITS.search(value) is None:
        return False
    kinds = ["digit" if each.isdigit() else each.isupper() for each in value if each.isalnum()]
    if len(kinds) < _FEWEST:
        return False
    turns = sum(one != other for one, other in pairwise(kinds))
    return turns >= _TURNS * (len(kinds) - 1)


def _value_of_variable(text: str, end: int, word: str) -> Value | None:
    """`DB_PASSWORD=…`, as `env` prints it and as files of settings have it."""
    found = _VARIABLE.match(text, end)
    name = _name(text, end)
    if found is None or not found.lastgroup or not name.isupper():
        return None
    secret = found[found.lastgroup]
    if "[hidden secret: " in found[0] or secret.startswith("[hidden"):
        return None
    plain = (word == "key" and not _is_secret_key(name)) or word in _WEAK
    long_enough = len(secret) >= _FEWEST or _is_mixed(secret)
    likely = not plain and long_enough and not _NO_SECRET.search(secret) and not _CODE.fullmatch(secret)
    return Value("value", *found.span(found.lastgroup)) if likely or is_random(secret) else None


def _name(text: str, end: int) -> str:
    found = _NAME.search(text, max(0, end - 60), end)
    return "" if found is None else found[0]


def _is_secret_key(name: str) -> bool:
    return _KEY_OF.search(name[: -len("key")]) is not None


def _is_mixed(value: str) -> bool:
    return any(each.isdigit() for each in value) and any(each.isalpha() for each in value)


def _is_login(value: str) -> bool:
    """A name and a password, as `Authorization: Basic` and Docker's settings hold them."""
    text = decoded(value)
    return text is not None and _LOGIN.fullmatch(text) is not None
