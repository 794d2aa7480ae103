"""Folders that the person trusts, stored in `<home>/trust.json`, outside of any such folder.

A folder is known by its real path. The person trusts exactly the keys of its file that loosen something, and exactly
these texts (skills and commands), each by itself. Any other key of the folder's file may change freely.
"""

import fcntl
import os
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from coderelay.config.config_paths import folder_file
from coderelay.config.person_and_folder_settings import folder_settings, person_settings
from coderelay.config.settings import Settings
from coderelay.protocol.errors import BadInput
from coderelay.protocol.text_escaping_and_width import display_path
from coderelay.protocol.translatable import say
from coderelay.workspace.files.atomic_write import write_whole

T = TypeVar("T")


class TrustRecords(Struct, frozen=True, omit_defaults=True):
    """`folders` has the digest of each folder's loosening keys; `texts` has the digests of each folder's texts, by
    their paths in it. `broad` lists the folders that hold everything the person has (their home, `/`) and in which
    they agreed to work."""

    folders: dict[str, str] = {}
    texts: dict[str, dict[str, str]] = {}
    broad: tuple[str, ...] = ()


def settings_needing_trust(home: str, folder: str) -> dict[str, Any]:
    """The keys of the folder's file that loosen something, as written there, trusted or not."""
    layered = folder_settings(home, folder, person_settings(home) or Settings())
    return {} if layered is None else layered.needs_trust


def is_trusted(home: str, folder: str, wanted: Mapping[str, Any]) -> bool:
    digest = _read(home).folders.get(os.path.realpath(folder))
    return digest is not None and digest == _digest(wanted)


def trusted_texts(home: str, folder: str) -> dict[str, str]:
    """The digests of a folder's texts that the person has seen and agreed to. Raises BadInput."""
    return _read(home).texts.get(os.path.realpath(folder), {})


def trust(
    home: str, folder: str, seen: Mapping[str, Any] | None = None, texts: Mapping[str, str] | None = None
) -> None:
    """From now on the folder's loosening keys count, and so do these `texts` as long as they do not change. Raises
    BadInput if the keys are no longer those that the person has `seen`."""
    wanted = settings_needing_trust(home, folder)
    if seen is not None and seen != wanted:
        raise BadInput(
            say("{path} was changed since it was shown", path=display_path(folder_file(folder))),
            "Review it again with /trust or `coder permissions trust`.",
        )
    real = os.path.realpath(folder)

    def change(known: TrustRecords) -> TrustRecords:
        folders = known.folders | {real: _digest(wanted)} if wanted else known.folders
        known_texts = (
            known.texts if texts is None else _without(known.texts, real) | _texts_of_folder_or_none(real, texts)
        )
        return replace(known, folders=folders, texts=known_texts)

    _change(home, change)


def is_agreed_to(home: str, folder: str) -> bool:
    """Whether the person has agreed to work in this broad folder. Raises BadInput."""
    return os.path.realpath(folder) in _read(home).broad


def agree_to_broad(home: str, folder: str) -> None:
    real = os.path.realpath(folder)
    _change(home, lambda known: replace(known, broad=(*(each for each in known.broad if each != real), real)))


def untrust(home: str, folder: str) -> bool:
    """Withdraw all trust in the folder. Returns whether it was trusted."""
    real, known = os.path.realpath(folder), _read(home)
    if real not in known.folders and real not in known.texts and real not in known.broad:
        return False

    def change(known: TrustRecords) -> TrustRecords:
        broad = tuple(each for each in known.broad if each != real)
        return TrustRecords(_without(known.folders, real), _without(known.texts, real), broad)

    _change(home, change)
    return True


def _texts_of_folder_or_none(folder: str, texts: Mapping[str, str]) -> dict[str, dict[str, str]]:
    return {folder: dict(texts)} if texts else {}


def _without(folders: Mapping[str, T], folder: str) -> dict[str, T]:
    return {path: kept for path, kept in folders.items() if path != folder}


def _digest(wanted: Mapping[str, Any]) -> str:
    from hashlib import sha256  # slow to load, and seldom needed

    return sha256(msgspec.json.encode(wanted, order="sorted")).hexdigest()


def _change(home: str, change: Callable[[TrustRecords], TrustRecords]) -> None:
    path = trust_file(home)
    try:
        os.makedirs(home, mode=0o700, exist_ok=True)
        lock = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)  # two processes at once would lose one of the changes
            content = msgspec.json.encode(change(_read(home)))
            write_whole(path, msgspec.json.format(content, indent=2) + b"\n", 0o600)
        finally:
            os.close(lock)
    except OSError as error:
        raise BadInput(say("cannot write {path}: {why}", path=display_path(path), why=error.strerror)) from error
    except UnicodeEncodeError as error:
        raise BadInput("the folder's name is not UTF-8, so it cannot be trusted") from error


def _read(home: str) -> TrustRecords:
    path = trust_file(home)
    try:
        with open(path, "rb") as file:
            return msgspec.json.decode(file.read(), type=TrustRecords)
    except FileNotFoundError:
        return TrustRecords()
    except OSError as error:
        raise BadInput(say("cannot read {path}: {why}", path=display_path(path), why=error.strerror)) from error
    except ValueError as error:
        raise BadInput(
            say("{path} is damaged", path=display_path(path)), "Delete it; then no folder is trusted any more."
        ) from error


def trust_file(home: str) -> str:
    return os.path.join(home, "trust.json")
