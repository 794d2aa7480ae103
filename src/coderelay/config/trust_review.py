"""What a person would trust in a folder and does not trust yet, in full, with a digest that stands for exactly that.

A person agrees to a digest that they were shown. Files may change at any time, so what is trusted is what was read
here, and nothing else.
"""

import os
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from coderelay.config.person_and_folder_settings import folder_settings, person_settings
from coderelay.config.settings import Settings
from coderelay.config.skills_and_commands.custom_commands import command_texts
from coderelay.config.skills_and_commands.skills import skill_texts
from coderelay.config.skills_and_commands.trusted_text_files import FoundText, places_of
from coderelay.config.trust_records_file import is_trusted, trust, trusted_texts
from coderelay.protocol.errors import BadInput
from coderelay.protocol.query_results import TrustShown, UntrustedSetting, UntrustedText

CHANGED = "something in this folder has changed since it was shown; nothing was trusted"


class TrustReview(Struct, frozen=True):
    """`wanted` are the keys that loosen something, `texts` the digests of all texts; `shown` has what is new of
    them."""

    shown: TrustShown
    wanted: dict[str, Any]
    texts: dict[str, str]


def review_folder(home: str, user_home: str, folder: str) -> TrustReview:
    """Read everything once. Raises BadInput if the configuration is wrong."""
    layered = folder_settings(home, folder, person_settings(home) or Settings())
    wanted, files = ({}, {}) if layered is None else (layered.needs_trust, layered.files)
    found = texts_of_folder(home=home, user_home=user_home, folder=folder)
    texts = {each.key: each.digest for each in found}
    settings = () if is_trusted(home, folder, wanted) else _settings(wanted, files)
    shown = TrustShown(
        folder=folder,
        digest=_digest(os.path.realpath(folder), wanted, texts),
        settings=tuple(settings),
        texts=tuple(_new_texts(found, trusted_texts(home, folder))),
    )
    return TrustReview(shown, wanted, texts)


def trust_reviewed(home: str, user_home: str, folder: str, digest: str) -> bool:
    """Trust what was shown with this digest. Returns whether there was anything. Raises BadInput if it is not that
    any more."""
    found = review_folder(home, user_home, folder)
    if found.shown.digest != digest:
        raise BadInput(CHANGED, "Review it again with /trust.")
    if not found.shown.settings and not found.shown.texts:
        return False
    trust(home, folder, found.wanted, found.texts)
    return True


def texts_of_folder(*, home: str, user_home: str, folder: str) -> list[FoundText]:
    """The folder's texts as they are now, trusted or not."""
    unread: list[str] = []  # dropped: a text that cannot be read is not used either, and the lookup says so
    skills = places_of("skills", home=home, user_home=user_home, folder=folder)
    commands = places_of("commands", home=home, user_home=user_home, folder=folder)
    agents = places_of("agents", home=home, user_home=user_home, folder=folder)
    return [
        *(text for place in skills if place.folder for text in skill_texts(place, unread)),
        *(text for place in (*commands, *agents) if place.folder for text in command_texts(place, unread)),
    ]


def _settings(wanted: Mapping[str, Any], files: Mapping[str, str]) -> Iterable[UntrustedSetting]:
    for key in sorted(wanted, key=lambda each: files[each]):
        value = msgspec.json.encode(
            wanted[key]
        ).decode()  # in full, as written there: a hidden part could be a command
        yield UntrustedSetting(files[key], key, value)


def _new_texts(found: Iterable[FoundText], known: Mapping[str, str]) -> Iterable[UntrustedText]:
    for each in sorted(found, key=lambda each: each.key):
        if not each.counts(known):
            yield UntrustedText(each.key, each.data.decode("utf-8", "backslashreplace"), each.key in known)


def _digest(folder: str, wanted: Mapping[str, Any], texts: Mapping[str, str]) -> str:
    from hashlib import sha256  # slow to load, and seldom needed

    return sha256(msgspec.json.encode([folder, wanted, texts], order="sorted")).hexdigest()
