"""The secrets in the settings of an MCP server, and the settings as they are shown, without them."""

from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import parse_qsl, urlsplit

from coderelay.policy.secrets.secret_value_recognition import is_secret_name, worth_hiding
from coderelay.tools.mcp.server_settings_interface import ServerSettings, filled


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
    return worth_hiding([*given, *(secret for _, secret in _arguments(settings.args))])


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
