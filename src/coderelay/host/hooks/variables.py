"""Which variables a hook may set for the commands of a session. They are kept in the log, so none is a secret."""

import re
from collections.abc import Mapping, Sequence

from coderelay.policy.secrets.masking import Secrets
from coderelay.workspace.processes.environment import ALLOWED, LOGIN_IN_ADDRESS, SECRET_NAME

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OURS = re.compile(r"CODER\w*|HOME|USER|LOGNAME|SHELL|TERM|TMPDIR")
_MOST = 64
_LONGEST = 8_000


def sorted_out(
    wanted: Mapping[str, str], listed: Sequence[str], secrets: Secrets
) -> tuple[dict[str, str], dict[str, str]]:
    """Those it may set, and why not of the others."""
    refused = {name: why for name, value in wanted.items() if (why := _why_not(name, value, listed, secrets))}
    allowed = {name: value for name, value in wanted.items() if name not in refused}
    too_many = dict.fromkeys([*allowed][_MOST:], f"more than {_MOST} variables")
    return {name: value for name, value in allowed.items() if name not in too_many}, refused | too_many


def _why_not(name: str, value: str, listed: Sequence[str], secrets: Secrets) -> str:
    if not _NAME.fullmatch(name) or "\0" in value:
        return "not a variable"
    if _OURS.fullmatch(name):
        return "not for a hook to set"
    if SECRET_NAME.search(name) or LOGIN_IN_ADDRESS.search(value) or secrets.hide(value) != value:
        return "it looks like a secret"
    if len(value) > _LONGEST:
        return "it is too long"
    if name not in listed and not ALLOWED.fullmatch(name):
        return "it is not in the hook's `variables`"
    return ""
