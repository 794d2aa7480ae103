"""Names of machines in addresses and in rules, compared label by label."""

import re

_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_ADDRESS = r"(?i)[a-z][a-z0-9+.-]*://([^/?#\\\s]*)(?:[/?#][^\s\\]*)?"
_NAMED = r"(?i)(?<![a-z0-9+.-])[a-z0-9+.-]+://([^/?#\s'\"\\]*)"


def host_of(address: str) -> str | None:
    """None for an address in any form but the usual one: a login or an escape may hide where it leads."""
    found = re.fullmatch(_ADDRESS, address)
    if found is None:
        return None
    name, _, port = found.group(1).lower().partition(":")
    return name if _is_host(name) and (not port or (port.isascii() and port.isdigit())) else None


def hosts_named(text: str) -> list[str]:
    """Of every address in a text, even of an odd one: what stands where the name would."""
    return [part.rpartition("@")[2].partition(":")[0].rstrip(".").lower() for part in re.findall(_NAMED, text)]


def is_host_pattern(text: str) -> bool:
    """`docs.python.org`, or `*.example.com` for all names below it."""
    return _is_host(text.lower().removeprefix("*."))


def host_matches(pattern: str, host: str) -> bool:
    wanted, labels = pattern.lower().split("."), host.split(".")
    if wanted[0] != "*":
        return labels == wanted
    return len(labels) >= len(wanted) and labels[-len(wanted) + 1 :] == wanted[1:]


def _is_host(name: str) -> bool:
    return len(name) <= 253 and all(re.fullmatch(_LABEL, label) for label in name.split("."))
