"""The places of `protocol.secret_places` that are there beneath a home: never shown to a command."""

import os
from collections.abc import Iterator
from glob import glob

from coderelay.protocol.secret_places import places_at_home


def credential_places(home: str) -> Iterator[str]:
    """Those that are there, by their real names."""
    for place in places_at_home():
        full = os.path.join(home, place)
        for found in glob(full) if "*" in place else [full]:
            if os.path.lexists(found) and os.path.exists(real := os.path.realpath(found)):
                yield real
