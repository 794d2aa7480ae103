"""Errors of model servers as ModelFailed, short and free of secrets, and the pause before a retry."""

import asyncio
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from math import isfinite
from typing import Any, cast

import msgspec

from coderelay.http.errors import ServerMisbehaved
from coderelay.http.model_server_client import Response
from coderelay.http.server_url import parse_address
from coderelay.protocol.errors import ModelFailed
from coderelay.protocol.translatable import say

_READ_BYTES = 64 * 1024
_READ_SECONDS = 5.0
_SHOWN = 300
_TITLE = r"(?is)<title[^>]*>(.*?)</title>"
_REASONS = ("error", "message", "detail", "msg")  # where servers put the reason, most telling first
_TOO_LONG = (  # not compiled before it is needed
    r"(?i)context_length_exceeded|exceed_context_size_error|(prompt|input) is too long|maximum context length"
    r"|exceeds the (available )?context|exceeds the maximum number of tokens"
)
_FINAL = {"insufficient_quota", "usage_not_included", "invalid_prompt", "invalid_request_error"}
_HINTS = {
    401: "Check the API key.",
    403: "Check the API key.",
    404: "Check the model name and the server address.",
    407: "Check the user name and password of the proxy.",
}
_DATE = "%a, %d %b %Y %H:%M:%S GMT"
_TOLD = r"(?i)(?:try again|retry) in (?:(\d+)m)?(\d+(?:\.\d+)?)(ms|s)\b"  # not compiled before it is needed


async def refusal(response: Response, secret: str, variable: str = "") -> ModelFailed:
    """The error for a refused request. `secret` is the key that was sent, from the environment variable `variable`;
    some servers repeat it."""
    body = b""
    with suppress(TimeoutError, ServerMisbehaved):  # the status says enough
        async with asyncio.timeout(_READ_SECONDS):
            body = await response.read(_READ_BYTES)
    status, text = response.status, body.decode("utf-8", "replace")
    return ModelFailed(
        say(
            "API error {status}: {problem}",
            status=status,
            problem=reason_in(body, secret) or "no reason given",
        ),
        status=status,
        retryable=is_retryable(status) and "insufficient_quota" not in text,
        retry_after=retry_after(response.headers, text),
        too_long=status in (400, 413, 422) and re.search(_TOO_LONG, text) is not None,
        hint=_moved(response) or _hint(status, variable),
    )


def _hint(status: int, variable: str) -> str:
    if variable and status in (401, 403):
        return say("Check {variable}.", variable=variable)
    return _HINTS.get(status, "")


def failure(error: object, secret: str) -> ModelFailed:
    """The error that a server reports in the middle of its answer. It is retryable unless the server says
    otherwise."""
    code, text = _field(error, "code"), _words(error)
    status = code if isinstance(code, int) else None  # gateways pass on the status that they received
    too_long = re.search(_TOO_LONG, f"{code} {text}") is not None
    final = too_long or not _FINAL.isdisjoint((str(code), str(_field(error, "type"))))
    return ModelFailed(
        say("API error: {problem}", problem=_short(text, secret) or "no reason given"),
        status=status,
        retryable=not final and (status is None or is_retryable(status)),
        retry_after=retry_after({}, text),
        too_long=too_long,
    )


def reason_in(body: bytes, secret: str) -> str:
    try:
        return reason(msgspec.json.decode(body), secret)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        text = body.decode("utf-8", "replace")
    title = re.search(_TITLE, text)
    if title is not None:
        return _short(title[1], secret)
    return say("an HTML page") if text.lstrip().startswith("<") else _short(text, secret)


def reason(told: object, secret: str) -> str:
    """The message in an error object, wherever the server put it."""
    return _short(_words(told), secret)


def is_retryable(status: int) -> bool:
    return status in (408, 409, 425, 429) or status >= 500


def _field(error: object, name: str) -> object:
    return cast(dict[str, Any], error).get(name) if isinstance(error, dict) else None


def _words(told: object) -> str:
    if isinstance(told, list):
        return next((words for each in cast(list[Any], told) if (words := _words(each))), "")
    if isinstance(told, dict):
        fields = cast(dict[str, Any], told)
        return next((words for name in _REASONS if (words := _words(fields.get(name)))), "")
    return told if isinstance(told, str) else ""


def _short(text: str, secret: str) -> str:
    line = " ".join(text.replace(secret, "…").split() if secret else text.split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1]}…"


def _moved(response: Response) -> str:
    """A hint for a redirect. Redirects are not followed: a key goes only where the person sent it."""
    if not 300 <= response.status < 400:
        return ""
    to = parse_address(response.headers.get("location", ""))
    return say("It has moved to {url}; change the address.", url=f"{to.scheme}://{to.netloc}{to.path}") if to else ""


def retry_after(headers: Mapping[str, str], text: str = "") -> float | None:
    """The requested pause in seconds, from the headers or else from the text of an error; None if nothing is said."""
    for asked in (_seconds(headers.get("retry-after-ms", ""), 0.001), _after(headers)):
        if asked is not None:
            return asked
    told = re.search(_TOLD, text)
    if told is None:
        return None
    return int(told[1] or 0) * 60 + float(told[2]) * (0.001 if told[3].lower() == "ms" else 1.0)


def _after(headers: Mapping[str, str]) -> float | None:
    asked = headers.get("retry-after", "")
    then = _moment(asked)
    if then is None:
        return _seconds(asked, 1.0)
    # Measured by the server's own clock if it sends a date: ours may be wrong.
    now = _moment(headers.get("date", "")) or datetime.now(UTC)
    return max(0.0, (then - now).total_seconds())


def _seconds(text: str, unit: float) -> float | None:
    with suppress(ValueError):  # some servers write something else
        seconds = float(text) * unit
        return max(0.0, seconds) if isfinite(seconds) else None
    return None


def _moment(text: str) -> datetime | None:
    with suppress(ValueError):  # not a date, mostly seconds
        return datetime.strptime(text, _DATE).replace(tzinfo=UTC)
    return None


def broken_event(why: object) -> ModelFailed:
    return ModelFailed(say("the model server sent a broken event: {why}", why=why), retryable=True)


def broken_off() -> ModelFailed:
    return ModelFailed("the model server broke off mid-answer", retryable=True)
