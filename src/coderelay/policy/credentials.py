"""Where people keep secrets: to read there is asked about, even in the workspace."""

import re
from fnmatch import fnmatchcase

_PLACES = re.compile(
    r"(?:^|/)(?:\.ssh|\.aws|\.gnupg|\.netrc|\.npmrc|\.pypirc|\.docker/config\.json|\.kube|\.git-credentials"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)|\.env(?:\.(?!example|sample|template|test|dist)[\w-]+)?|\.config/gcloud|\.coder)(?:/|$)",
    re.IGNORECASE,
)
_NAMES = (
    ".ssh", ".aws", ".gnupg", ".netrc", ".npmrc", ".pypirc", ".docker", ".kube", ".git-credentials", "id_rsa",
    "id_dsa", "id_ecdsa", "id_ed25519", ".env", ".env.local", ".env.production", ".config", ".coder",
)  # fmt: skip


def secret_place(path: str) -> str | None:
    """The part of a path that says so."""
    found = _PLACES.search(path)
    return None if found is None else found.group().strip("/")


def secret_word(text: str, *, glob: bool) -> str | None:
    """The part of a word of a command that says so, or that could become one: no pattern means a leading dot unless
    it has one, and one that means every name asks for nothing in particular."""
    parts = re.split(r"[=:@,]", text)
    if found := next((place for part in parts if (place := secret_place(part))), None):
        return found
    names = [name for part in parts for name in part.lower().split("/") if glob and set("*?") & set(name)]
    return next((name for name in names if name.strip("*") and any(_may_be(name, each) for each in _NAMES)), None)


def _may_be(pattern: str, name: str) -> bool:
    begin = re.split(r"[*?]", pattern, maxsplit=1)[0]
    return (pattern[0] == ".") == (name[0] == ".") and name.startswith(begin) and fnmatchcase(name, pattern)
