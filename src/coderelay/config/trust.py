"""What the person trusts: for each folder, by its real path, exactly the keys that loosen something there.

Kept in `<home>/trust.json`, outside of any folder. Any other key of the folder's file may change freely.
"""

import fcntl
import os
from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from coderelay.config.place import folder_file, shown
from coderelay.config.settings import Settings
from coderelay.config.sources import folder_settings, person_settings
from coderelay.protocol.errors import BadInput
from coderelay.workspace.replacement import write_whole


class Trusted(Struct, frozen=True):
    """Digests of the loosening keys by folder."""

    folders: dict[str, str] = {}


def wishes(home: str, folder: str) -> dict[str, Any]:
    """The keys of the folder's file that loosen something, as written there, trusted or not."""
    layered = folder_settings(home, folder, person_settings(home) or Settings())
    return {} if layered is None else layered.loosening


def is_trusted(home: str, folder: str, wanted: Mapping[str, Any]) -> bool:
    digest = _read(home).folders.get(os.path.realpath(folder))
    return digest is not None and digest == _digest(wanted)


def trust(home: str, folder: str, seen: Mapping[str, Any] | None = None) -> None:
    """From now on the folder gets what it wants. Refused if that is not what the person has seen."""
    wanted = wishes(home, folder)
    if seen is not None and seen != wanted:
        raise BadInput(f"{shown(folder_file(folder))} has just been changed", "Look at it again.")
    _change(home, lambda folders: folders | {os.path.realpath(folder): _digest(wanted)})


def untrust(home: str, folder: str) -> bool:
    """Whether it was trusted."""
    real = os.path.realpath(folder)
    if real not in _read(home).folders:
        return False
    _change(home, lambda folders: {path: kept for path, kept in folders.items() if path != real})
    return True


def _digest(wanted: Mapping[str, Any]) -> str:
    from hashlib import sha256  # slow to load, and seldom needed

    return sha256(msgspec.json.encode(wanted, order="sorted")).hexdigest()


def _change(home: str, change: Callable[[dict[str, str]], dict[str, str]]) -> None:
    path = trust_file(home)
    try:
        os.makedirs(home, mode=0o700, exist_ok=True)
        lock = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)  # two at once would lose one of the changes
            content = msgspec.json.encode(Trusted(change(_read(home).folders)))
            write_whole(path, msgspec.json.format(content, indent=2) + b"\n", 0o600)
        finally:
            os.close(lock)
    except OSError as error:
        raise BadInput(f"{shown(path)} cannot be written: {error.strerror}") from error
    except UnicodeEncodeError as error:
        raise BadInput("the folder's name is not UTF-8, so it cannot be trusted") from error


def _read(home: str) -> Trusted:
    path = trust_file(home)
    try:
        with open(path, "rb") as file:
            return msgspec.json.decode(file.read(), type=Trusted)
    except FileNotFoundError:
        return Trusted()
    except OSError as error:
        raise BadInput(f"{shown(path)} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise BadInput(f"{shown(path)} is damaged", "Remove it; then nothing is trusted any more.") from error


def trust_file(home: str) -> str:
    return os.path.join(home, "trust.json")
