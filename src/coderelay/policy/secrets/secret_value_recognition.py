"""Tells secret values from others: in the environment, in addresses, in options of programs.

`masking` hides these wherever they occur.
"""

import re
from collections.abc import Iterable, Mapping

_NAME = re.compile(r"key|token|secret|passw|passphrase|credential|auth|cookie", re.IGNORECASE)
_PASSWORD = r"(?i)://[^/?]*?:([^/?]+)@|\bpassword=([^&\s]+)"


def secret_values(environment: Mapping[str, str]) -> list[str]:
    """The values of environment variables that are secret by their name and look: no paths, no plain words."""
    return distinctive_values(value for name, value in environment.items() if _NAME.search(name))


def is_secret_name(name: str) -> bool:
    """Whether what has this name is secret: a variable of the environment, or an option of a program."""
    return _NAME.search(name) is not None


def distinctive_values(values: Iterable[str]) -> list[str]:
    """Those of the values, all meant to be secret, that are distinctive enough to be hidden wherever they occur."""
    return [value for value in values if _looks_secret(value)]


def passwords_in(address: str) -> list[str]:
    """The passwords in the URL of a database, as written there and percent-decoded."""
    written = [first or second for first, second in re.findall(_PASSWORD, address)] if address else []
    if not written:
        return []
    from urllib.parse import unquote  # imported late: few URLs hold a password

    return [*written, *map(unquote, written)]


def _looks_secret(value: str) -> bool:
    if value.startswith(("/", "~", "./")) or "\n" in value.strip():
        return False
    mixed = any(each.isdigit() for each in value) and any(each.isalpha() for each in value)
    return len(value) >= 16 or (len(value) >= 8 and mixed)
