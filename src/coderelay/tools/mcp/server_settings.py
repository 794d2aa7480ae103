"""The settings of an MCP server: what they are, their fingerprint, and the values of `${NAME}` in them."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import ClassVar, Protocol
from urllib.parse import parse_qsl, urlsplit

import msgspec

from coderelay.policy.secrets.secret_value_recognition import distinctive_values, is_secret_name
from coderelay.protocol.translatable import say
from coderelay.tools.mcp.server_transport_interface import ServerFailed

REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_MARK = 16


class ServerSettings(Protocol):
    """A program to start (`command`), or a server that listens at `url`. `${NAME}` in the values of `env` and
    `headers` is that variable of the person's environment, so that no key need be in a file; `${NAME:-text}` is the
    text if there is no such variable. In `literal` settings it stands for itself."""

    literal: ClassVar[bool]

    @property
    def command(self) -> str | None: ...

    @property
    def args(self) -> tuple[str, ...]: ...

    @property
    def env(self) -> Mapping[str, str]: ...

    @property
    def url(self) -> str | None: ...

    @property
    def headers(self) -> Mapping[str, str]: ...


def mark_of(settings: ServerSettings, folder: str) -> str:
    """A fingerprint, which differs for another program or address, whatever the server is called. `folder` is where
    the program is started: `./server` is another program in another folder."""
    command = settings.command
    where = folder if command is not None and os.sep in command and not os.path.isabs(command) else ""
    given = [command, settings.args, settings.url, sorted(settings.env.items()), sorted(settings.headers.items())]
    return sha256(msgspec.json.encode([*given, where])).hexdigest()[:_MARK]


def fill_variables(values: Mapping[str, str], variables: Mapping[str, str]) -> dict[str, str]:
    """Fill in the variables. Raises ServerFailed if one is not set."""
    found = [each for value in values.values() for each in REFERENCE.finditer(value)]
    missing = [each[1] for each in found if each[1] not in variables and each[2] is None]
    if missing:
        raise ServerFailed(say("needs {names} in the environment", names=", ".join(dict.fromkeys(missing))))
    return {name: filled(value, variables) for name, value in values.items()}


def filled(value: str, variables: Mapping[str, str]) -> str:
    return REFERENCE.sub(lambda found: variables.get(found[1], found[2] or ""), value)


def where_shown(settings: ServerSettings) -> str:
    """The address or the command line, for people and the log: without what is meant to be secret in it."""
    if settings.url is not None:
        parts = urlsplit(settings.url)
        return f"{parts.scheme}://{parts.hostname or ''}{f':{parts.port}' if parts.port else ''}{parts.path}"
    return " ".join([settings.command or "", *(shown for shown, _ in _arguments(settings.args))])


def secrets_of(settings: ServerSettings) -> list[str]:
    """The values of literal settings that may be secrets: all of the environment and of the headers, what an address
    has besides its path, and arguments that are meant to be secret."""
    given = [*settings.env.values(), *(value.rpartition(" ")[2] for value in settings.headers.values())]
    if settings.url is not None:
        parts = urlsplit(settings.url)
        given += [parts.password or "", parts.query, *(value for _, value in parse_qsl(parts.query))]
    return distinctive_values([*given, *(secret for _, secret in _arguments(settings.args))])


def _arguments(args: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each argument as it may be shown, and what is secret in it."""
    for before, word in zip(("", *args), args, strict=False):
        name, equals, value = word.partition("=")
        if equals and is_secret_name(name):
            yield f"{name}=…", value
        elif before.startswith("-") and "=" not in before and is_secret_name(before):
            yield "…", word
        else:
            yield word, ""


def private_values(settings: ServerSettings, variables: Mapping[str, str]) -> dict[str, str]:
    """The values that may be secrets, by name. In `Bearer KEY` that is the key."""
    given = {**settings.env, **{name: value.rpartition(" ")[2] for name, value in settings.headers.items()}}
    return {name: filled(value, variables) for name, value in given.items()}
