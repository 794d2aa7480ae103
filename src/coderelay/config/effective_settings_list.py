"""Every setting that holds in a folder, with its value and where that comes from."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from coderelay.config.config_paths import person_file
from coderelay.config.folder_override_rules import Path, keys_in
from coderelay.config.loaded_config import Config
from coderelay.config.person_and_folder_settings import folder_keys, person_keys
from coderelay.config.secrets_in_settings import hide_secrets
from coderelay.config.settings import is_to_come
from coderelay.protocol.query_results import SettingShown
from coderelay.protocol.text_escaping_and_width import display_path

_VARIABLES = {"model": "CODER_MODEL", "lang": "CODER_LANG"}


def settings_in_force(config: Config, env: Mapping[str, str]) -> list[SettingShown]:
    """In the order of their declaration, with secrets hidden. The sources of a setting are the files that set it as
    far as they count here; none if it is the default. Raises BadInput if a file is wrong."""
    mine = person_keys(config.home)
    theirs = {} if config.folder is None else folder_keys(config.home, config.folder)
    own_file = display_path(person_file(config.home))

    def sources(key: str) -> tuple[str, ...]:
        variable = _VARIABLES.get(key, "")
        if env.get(variable):
            return (variable,)
        file = theirs.get(key) if key not in config.untrusted else None
        return tuple(filter(None, (own_file if key in mine else None, file)))

    return [SettingShown(key, _json(key, value), sources(key)) for key, value in _known(config)]


def _known(config: Config) -> Iterator[tuple[str, Any]]:
    tree = msgspec.to_builtins(config.settings) | {"model": config.model, "lang": config.lang}
    found: Iterator[tuple[Path, Any]] = keys_in(tree)
    return ((".".join(path), value) for path, value in found if not is_to_come(path))


def _json(key: str, value: Any) -> str:
    return msgspec.json.encode(hide_secrets(value, key)).decode()
