"""Hints for the model when a command failed and its output suggests that the sandbox was the reason."""

import re
from collections.abc import Collection

from coderelay.protocol.calls import Right

_NETWORK = re.compile(
    r"network is (unreachable|down)|could not resolve|temporary failure in name resolution|name or service not known"
    r"|nodename nor servname|getaddrinfo|EAI_AGAIN|ENETUNREACH|no address associated with hostname"
    r"|failed to establish a new connection|unable to (connect|access 'https?:)|dns error|lookup .* on .*: dial"
    r"|unknown ?host|failed to (fetch|download|lookup address)",
    re.IGNORECASE,
)
_OUTSIDE = re.compile(
    r"read-only file system|EROFS|os error 30|device or resource busy|permission denied \(publickey\)"
    r"|gpg failed to sign|cannot connect to the docker daemon|connection to your authentication agent",
    re.IGNORECASE,
)
_REFUSED = re.compile(r"permission denied|operation not permitted|EACCES|EPERM", re.IGNORECASE)


def sandbox_hint(output: str, backend: str, rights: Collection[Right] = ()) -> str:
    """Return one line to append to the output of a failed command, or an empty text. `backend` is how it was
    confined."""
    if backend == "none" or "outside" in rights:
        return ""
    if "network" not in rights and _NETWORK.search(output):
        return (
            "[The sandbox has no network. If the command needs it, run it again as `CODER_NETWORK=1 COMMAND`; "
            "the person may be asked.]"
        )
    if _OUTSIDE.search(output) or (backend == "sandlock" and _REFUSED.search(output)):
        return (
            "[The sandbox lets commands write only in the workspace and in /tmp, and there not what other programs "
            "obey: git's configuration and hooks, settings of editors, agents and package managers. It hides "
            "credentials. If this command has to do more (such a file may differ between two branches), run it again "
            "as `CODER_SANDBOX=0 COMMAND`; the person is asked.]"
        )
    return ""
