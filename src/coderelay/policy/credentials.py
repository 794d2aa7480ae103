"""Where people keep secrets: to read there is asked about, even in the workspace."""

import re

_PLACES = re.compile(
    r"(?:^|/)(?:\.ssh|\.aws|\.gnupg|\.netrc|\.npmrc|\.pypirc|\.docker/config\.json|\.kube|\.git-credentials"
    r"|id_(?:rsa|dsa|ecdsa|ed25519)|\.env(?:\.(?!example|sample|template|test|dist)[\w-]+)?|\.config/gcloud|\.coder)(?:/|$)",
    re.IGNORECASE,
)


def secret_place(path: str) -> str | None:
    """The part of a path that says so."""
    found = _PLACES.search(path)
    return None if found is None else found.group().strip("/")
