"""Secrets belong in environment variables: recognise them, refuse them in files, and hide them in output."""

import re
from collections.abc import Mapping
from typing import Any, cast

from coderelay.models.providers import ProviderSettings
from coderelay.protocol.errors import BadInput
from coderelay.protocol.translatable import say
from coderelay.workspace.processes.environment import LOGIN_IN_ADDRESS, SECRET_NAME

HIDDEN = "***"
_HEADERS = {"authorization", "proxy-authorization", "cookie"}
REFERENCE = r"(?:[A-Za-z]{1,10} )?\$\{\w+\}"  # names a variable, which people must see


def names_secret(name: str) -> bool:
    """Whether a value with this name is probably a secret. The name of a variable that holds one (`_env`) is not."""
    if name.lower() in _HEADERS:
        return True
    return SECRET_NAME.search(name) is not None and not name.endswith("_env")


def refuse_secrets(providers: Mapping[str, ProviderSettings], file: str) -> None:
    for name, settings in providers.items():
        variable = settings.api_key_env
        if variable is not None and not (variable.isascii() and variable.isidentifier()):
            raise BadInput(
                say(
                    "{file}: providers.{name}.api_key_env must be the name of an environment variable",
                    file=file,
                    name=name,
                )
            )
        if settings.base_url is not None and LOGIN_IN_ADDRESS.search(settings.base_url):
            raise BadInput(
                say(
                    "{file}: providers.{name}.base_url must be an address without a login in it", file=file, name=name
                )
            )


def hide_secrets(value: Any, name: str = "") -> Any:
    """The same value with its secrets replaced, so that it may be shown."""
    if isinstance(value, dict):
        return {each: hide_secrets(inner, each) for each, inner in cast(dict[str, Any], value).items()}
    if isinstance(value, list | tuple):
        return [hide_secrets(each, name) for each in cast(list[Any], value)]
    if isinstance(value, str) and names_secret(name.rpartition(".")[2]) and not re.fullmatch(REFERENCE, value):
        return HIDDEN
    if isinstance(value, str):
        return LOGIN_IN_ADDRESS.sub(f"://{HIDDEN}@", value)
    return value
