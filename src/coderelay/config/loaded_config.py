"""Load the configuration for a folder: defaults, then the person's file, the folder's file, the environment."""

import os
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import Any

from msgspec import Struct

from coderelay.config.config_paths import OWN_FOLDER, folder_file, person_file
from coderelay.config.folder_cache import FolderCache, no_folders
from coderelay.config.mcp_json import mcp_json_file
from coderelay.config.person_and_folder_settings import folder_settings, person_settings
from coderelay.config.secrets_in_settings import hide_secrets
from coderelay.config.settings import Language, Settings, Unattended
from coderelay.config.trust_records_file import is_trusted, trust_file
from coderelay.protocol.errors import BadInput
from coderelay.protocol.translatable import say
from coderelay.protocol.translation_files import LANGUAGES, locale_language

FileFingerprints = tuple[tuple[int, int, int] | None, ...]
"""For each file that `load` reads, its modification time, size and inode, or None if it does not exist or does not
matter."""


class Config(Struct, frozen=True):
    """The configuration that applies in `folder`, or outside of any folder if that is None. `model` is None if nobody
    has set one; then `detect` finds one. `untrusted` holds the settings that the folder wants and does not get, by
    key, with secrets hidden; `untrusted_files` has the file of each, as a path in the folder. `files` are the files
    that were read; `file_fingerprints` describe them as they were just before."""

    home: str
    model: str | None
    database_url: str | None = None
    lang: Language = "en"
    settings: Settings = Settings()
    untrusted: dict[str, Any] = {}
    untrusted_files: dict[str, str] = {}
    files: tuple[str, ...] = ()
    folder: str | None = None
    file_fingerprints: FileFingerprints = ()

    @property
    def database(self) -> str:
        return os.path.join(self.home, "sessions.db")

    @property
    def live(self) -> str:
        return os.path.join(self.home, "live.db")

    @property
    def owners(self) -> str:
        return os.path.join(self.home, "owners")

    @property
    def unattended(self) -> Unattended | None:
        """What happens to an ask that nobody can answer; None leaves it to the surface."""
        return self.settings.unattended

    def __repr__(self) -> str:
        """Leaves out the address of the database, which may hold a password."""
        return f"Config(home={self.home!r}, model={self.model!r}, lang={self.lang!r}, settings={self.settings!r})"


def load(env: Mapping[str, str], cwd: str | None = None) -> Config:
    """Load the configuration. Raises BadInput if anything is wrong; it is never loaded in part."""
    return _load(home_of(env), env, cwd)


class CurrentConfig:
    """The configuration of each folder as its files stand now. They are read when the folder is first asked for, and
    again when one of them has changed. `used` gives the folders whose configuration is needed again and again."""

    def __init__(
        self, first: Config, env: Mapping[str, str], used: Callable[[], Collection[str]] = no_folders
    ) -> None:
        self.home = first.home
        self.used = used
        self._env = env
        self._known = FolderCache[Config](used)
        if first.folder is not None:
            self._known.put(first.folder, first)

    def of(self, folder: str) -> Config:
        """The same object until a file changes. Raises BadInput if anything is wrong."""
        known = self._known.get(folder)
        if known is None or known.file_fingerprints != _file_fingerprints(self.home, folder):
            known = self._known.put(folder, _load(self.home, self._env, folder))
        return known


def _load(home: str, env: Mapping[str, str], cwd: str | None) -> Config:
    stamps = () if cwd is None else _file_fingerprints(home, cwd)
    mine = person_settings(home)
    files = () if mine is None else (person_file(home),)
    settings = mine or Settings()
    untrusted: dict[str, Any] = {}
    untrusted_files: dict[str, str] = {}
    if cwd is not None and (layered := folder_settings(home, cwd, settings)) is not None:
        trusted = bool(layered.needs_trust) and is_trusted(home, cwd, layered.needs_trust)
        settings = layered.trusted if trusted else layered.untrusted
        untrusted = {} if trusted else hide_secrets(layered.needs_trust)
        untrusted_files = {} if trusted else layered.files
        files = (*files, *(path for path in (folder_file(cwd), mcp_json_file(cwd)) if os.path.lexists(path)))
    return Config(
        home=home,
        model=env.get("CODER_MODEL") or settings.model,
        database_url=env.get("CODER_DATABASE_URL") or None,
        lang=language_of(env, settings),
        settings=settings,
        untrusted=untrusted,
        untrusted_files=untrusted_files,
        files=files,
        folder=cwd,
        file_fingerprints=stamps,
    )


def _file_fingerprints(home: str, cwd: str) -> FileFingerprints:
    person, of_folder, mcp, trust = _files(home, cwd)
    wanted = _stamp(of_folder), _stamp(mcp)
    return _stamp(person), *wanted, _stamp(trust) if any(wanted) else None  # otherwise there is nothing to trust


@lru_cache(64)
def _files(home: str, cwd: str) -> tuple[str, str, str, str]:
    return person_file(home), folder_file(cwd), mcp_json_file(cwd), trust_file(home)


def _stamp(path: str) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def home_of(env: Mapping[str, str]) -> str:
    home = env.get("CODER_HOME") or os.path.join(os.path.expanduser("~"), OWN_FOLDER)
    return os.path.abspath(os.path.expanduser(home))


def language_of(env: Mapping[str, str], settings: Settings) -> Language:
    said = env.get("CODER_LANG", "")
    if said and said not in LANGUAGES:
        names = ", ".join(LANGUAGES)
        raise BadInput(say("CODER_LANG must be one of {names}, not {value}", names=names, value=repr(said)))
    return said or settings.lang or locale_language(env)
