"""Regular expressions for known formats of API keys, tokens, passwords and private keys.

Each pattern begins with the plain text `prefix`, which is found fast, and is compiled only if that text occurs; so a
prefix should be too long to be common in prose. No pattern nests unlimited repetitions, so that the time stays
proportional to the length of any text.
"""

import re
from collections.abc import Callable
from functools import cache, partial

from msgspec import Struct

_BEFORE = r"[A-Za-z0-9_-]"
_MOST_DIGITS = 9


class KeyFormat(Struct, frozen=True):
    """One format of a secret. The regular expression `rest` follows the prefix; if it has a group `secret`, only that
    part is hidden. If `joined` is true, the prefix may directly follow a letter or digit. If `random` is true, the
    secret must hold a digit, because words joined by hyphens would match as well."""

    kind: str
    prefix: str
    rest: str
    joined: bool = False
    random: bool = False


KEY_FORMATS = (
    KeyFormat("anthropic key", "sk-ant-", r"[A-Za-z0-9_-]{20,}", joined=True),
    KeyFormat("api key", "sk-", r"[A-Za-z0-9_-]{20,}", random=True),
    KeyFormat("groq key", "gsk_", r"[A-Za-z0-9]{40,}"),
    KeyFormat("xai key", "xai-", r"[A-Za-z0-9]{40,}"),
    KeyFormat("perplexity key", "pplx-", r"[A-Za-z0-9]{30,}"),
    KeyFormat("replicate token", "r8_", r"[A-Za-z0-9]{30,}"),
    KeyFormat("hugging face token", "hf_", r"[A-Za-z0-9]{30,}"),
    KeyFormat("github token", "gh", r"[pousr]_[A-Za-z0-9]{30,}", joined=True),
    KeyFormat("github token", "github_pat_", r"[A-Za-z0-9_]{30,}", joined=True),
    *(
        KeyFormat("gitlab token", f"gl{each}-", r"[A-Za-z0-9_.-]{20,}")
        for each in ("pat", "ptt", "dt", "rt", "cbt", "soat", "ft", "imt", "agent", "oas")
    ),
    KeyFormat("slack token", "xox", r"[abceoprs](?:\.xox[bp])?-[A-Za-z0-9-]{20,}"),
    KeyFormat("slack token", "xapp-", r"[0-9]-[A-Za-z0-9-]{20,}"),
    KeyFormat(
        "slack webhook", "hooks.slack.com/", r"(?:services|workflows)/(?P<secret>[A-Za-z0-9/]{20,200})", joined=True
    ),
    KeyFormat("discord webhook", "/api/webhooks/", r"[0-9]{15,22}/(?P<secret>[A-Za-z0-9_-]{50,100})", joined=True),
    KeyFormat("google key", "AIza", r"[A-Za-z0-9_-]{35}"),
    KeyFormat("google token", "ya29.", r"[A-Za-z0-9_-]{30,}"),
    KeyFormat("google secret", "GOCSPX-", r"[A-Za-z0-9_-]{20,}"),
    KeyFormat("stripe key", "sk_live_", r"[A-Za-z0-9]{20,}"),
    KeyFormat("stripe key", "rk_live_", r"[A-Za-z0-9]{20,}"),
    KeyFormat("stripe key", "sk_test_", r"[A-Za-z0-9]{20,}"),
    KeyFormat("stripe secret", "whsec_", r"[A-Za-z0-9+/]{24,}={0,2}"),
    KeyFormat("npm token", "npm_", r"[A-Za-z0-9]{36}"),
    KeyFormat("pypi token", "pypi-", r"[A-Za-z0-9_-]{50,}"),
    KeyFormat("rubygems token", "rubygems_", r"[a-f0-9]{40,}"),
    KeyFormat("docker token", "dckr_", r"(?:pat|oat)_[A-Za-z0-9_-]{20,}"),
    *(KeyFormat("digitalocean token", f"do{each}_v1_", r"[a-f0-9]{60,}") for each in "opr"),
    KeyFormat("sendgrid key", "SG.", r"[A-Za-z0-9_-]{20,24}\.[A-Za-z0-9_-]{40,46}"),
    KeyFormat("shopify token", "shp", r"(?:at|ca|pa|ss)_[A-Fa-f0-9]{30,}"),
    KeyFormat("linear key", "lin_api_", r"[A-Za-z0-9]{30,}"),
    KeyFormat("notion token", "ntn_", r"[A-Za-z0-9]{40,}"),
    KeyFormat("atlassian token", "ATATT3", r"[A-Za-z0-9_=-]{50,}"),
    KeyFormat("databricks token", "dapi", r"[a-f0-9]{32}"),
    KeyFormat("vault token", "hvs.", r"[A-Za-z0-9_-]{20,}"),
    KeyFormat("age key", "AGE-SECRET-KEY-1", r"[A-Z0-9]{50,}"),
    KeyFormat("feishu token", "t-g", r"[0-9][A-Za-z0-9]{6,12}[A-Z0-9]{24,}"),
    KeyFormat(
        "telegram token", ":AA", r"(?<=[0-9]{8}:AA)(?P<secret>[A-Za-z0-9_-]{32,34})(?![A-Za-z0-9_-])", joined=True
    ),
    KeyFormat("aws key", "AKIA", r"[A-Z2-7]{16}(?![A-Za-z0-9])"),
    KeyFormat("aws key", "ASIA", r"[A-Z2-7]{16}(?![A-Za-z0-9])"),
    KeyFormat("aws secret key", "[hidden secret: aws key]", r"\W{1,5}(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])"),
    KeyFormat("azure key", "ccountKey=", r"(?P<secret>[A-Za-z0-9+/]{40,}={0,2})", joined=True),
    KeyFormat("azure key", "ccessKey=", r"(?P<secret>[A-Za-z0-9+/]{40,}={0,2})", joined=True),
    KeyFormat("web token", "eyJ", r"[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{20,}"),
    KeyFormat("web token", "eyJ", r"[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]{16,}){3}"),
    KeyFormat(
        "password",
        "://",
        r"[^/\s:@\"'\\]{0,100}:(?!pass(?:wd|word)?@)(?P<secret>[^/\s:@\"'\\${<*\[][^/\s:@\"'\\${<*]{5,200})@"
        r"(?!localhost|127\.|0\.0\.0\.0|[^/\s.]{0,200}(?:[:/\s]|$))",
        joined=True,
    ),
    KeyFormat("password", "login ", r"\S{1,100}\s{1,20}password[ \t]{1,20}(?P<secret>[^\s\[{$<]\S{3,200})"),
    KeyFormat("private key", "Private-Lines: ", r"[0-9]{1,3}\r?\n(?P<secret>(?:[A-Za-z0-9+/=]{1,64}\r?\n?){1,200})"),
    KeyFormat("private key", "b3BlbnNzaC1rZXktdjEA", r"(?:[A-Za-z0-9+/=]{1,100}(?:\\n|\r?\n)?){1,200}"),
    KeyFormat("private key", "MII", r"[A-Za-z0-9+/]{3}IBA[AD](?:[A-Za-z0-9+/=]{1,100}(?:\\n|\r?\n)?){1,200}"),
    KeyFormat("private key", "MIG", r"[A-Za-z0-9+/]AgEAM[A-Za-z0-9+/=]{60,}"),
    KeyFormat("private key", "MHcCAQEEI", r"[A-Za-z0-9+/=]{40,}"),
    KeyFormat("private key", "MC4CAQAwBQYDK2VwBCIEI", r"[A-Za-z0-9+/=]{30,}"),
)


def hide_key_formats(text: str, is_example: Callable[[str], bool]) -> str:
    for shape in KEY_FORMATS:
        if shape.prefix in text:
            text = _pattern(shape).sub(partial(_hidden, shape, is_example), text)
    return text


def _hidden(shape: KeyFormat, is_example: Callable[[str], bool], found: re.Match[str]) -> str:
    group = "secret" if "secret" in found.re.groupindex else 0
    secret = found[group]
    if is_example(secret) or (shape.random and not any(map(str.isdigit, secret))):
        return found[0]
    start, end = found.span(group)
    return f"{found.string[found.start() : start]}[hidden secret: {shape.kind}]{found.string[end : found.end()]}"


@cache
def _pattern(shape: KeyFormat) -> re.Pattern[str]:
    """The compiled pattern. Its lookbehind stands after the prefix and repeats it, so that the search begins with
    plain text. A key may also directly follow an escape sequence for a colour, which ends in a letter."""
    prefix = re.escape(shape.prefix)
    coloured = (rf"(?<=\x1b\[[0-9;]{{{digits}}}[mK]{prefix})" for digits in range(_MOST_DIGITS))
    begins = "" if shape.joined else rf"(?:(?<!{_BEFORE}{prefix})|{'|'.join(coloured)})"
    return re.compile(prefix + begins + shape.rest)
