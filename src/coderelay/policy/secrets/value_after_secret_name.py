"""Whether the value behind a name that says it is secret looks like a secret, and where it begins and ends.

Loaded with the first text that has such a name.
"""

import re
from itertools import pairwise

from msgspec import Struct

from coderelay.policy.secrets.base64_text import decoded

_WEAK = ("auth", "sig", "signature")
"""A variable whose name ends in one of these words often holds something other than a secret."""
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
# Names in source code, not secrets: `settings.TOKEN` and `Ed25519PrivateKey`.
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


class SecretValue(Struct, frozen=True):
    kind: str
    start: int
    end: int


def value_at(text: str, end: int, word: str) -> SecretValue | None:
    if word == "bearer":
        found = _BEARER.match(text, end)
        return SecretValue("bearer token", *found.span("secret")) if found and is_random(found["secret"]) else None
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
    return SecretValue("value", *found.span("secret")) if believed else None


def is_random(value: str) -> bool:
    """Whether upper case, lower case and digits alternate as in generated keys, not as in words, names and dates."""
    if _TWO_DIGITS.search(value) is None:
        return False
    kinds = ["digit" if each.isdigit() else each.isupper() for each in value if each.isalnum()]
    if len(kinds) < _FEWEST:
        return False
    turns = sum(one != other for one, other in pairwise(kinds))
    return turns >= _TURNS * (len(kinds) - 1)


def _value_of_variable(text: str, end: int, word: str) -> SecretValue | None:
    """The value of a variable such as `DB_PASSWORD=…`, as `env` prints it and configuration files hold it."""
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
    return SecretValue("value", *found.span(found.lastgroup)) if likely or is_random(secret) else None


def _name(text: str, end: int) -> str:
    found = _NAME.search(text, max(0, end - 60), end)
    return "" if found is None else found[0]


def _is_secret_key(name: str) -> bool:
    return _KEY_OF.search(name[: -len("key")]) is not None


def _is_mixed(value: str) -> bool:
    return any(each.isdigit() for each in value) and any(each.isalpha() for each in value)


def _is_login(value: str) -> bool:
    """Whether a value is a name and a password in base64, as in `Authorization: Basic` and Docker's configuration."""
    text = decoded(value)
    return text is not None and _LOGIN.fullmatch(text) is not None
