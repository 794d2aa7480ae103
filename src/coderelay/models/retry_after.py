"""How long a server asks to be left alone."""

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from math import isfinite

_DATE = "%a, %d %b %Y %H:%M:%S GMT"
_TOLD = r"(?i)(?:try again|retry) in (?:(\d+)m)?(\d+(?:\.\d+)?)(ms|s)\b"  # not compiled before it is needed


def retry_after(headers: Mapping[str, str], text: str = "") -> float | None:
    """In seconds, from the headers or else from the words of an error; None if nothing is said."""
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
    # By the server's own clock if it tells the time: ours may be wrong.
    now = _moment(headers.get("date", "")) or datetime.now(UTC)
    return max(0.0, (then - now).total_seconds())


def _seconds(text: str, unit: float) -> float | None:
    with suppress(ValueError):  # of servers that write something else
        seconds = float(text) * unit
        return max(0.0, seconds) if isfinite(seconds) else None
    return None


def _moment(text: str) -> datetime | None:
    with suppress(ValueError):  # not a date, mostly seconds
        return datetime.strptime(text, _DATE).replace(tzinfo=UTC)
    return None
