"""Which of the settings that a client requests for a new session are accepted."""

import os
import re
from collections.abc import Iterable
from typing import Any, cast
from urllib.parse import urlsplit

from msgspec import Struct

from coderelay.acp.request_params import NewSession, WantedSettings
from coderelay.acp.update_payloads import Fields
from coderelay.client.client import LentServer
from coderelay.client.i18n import t
from coderelay.protocol.errors import BadInput
from coderelay.protocol.modes import freer_mode, mode_called, stricter_mode
from coderelay.protocol.session_setting_values import Mode
from coderelay.protocol.translatable import say


class AcceptedSettings(Struct, frozen=True):
    """`max_steps` is for each prompt. `notices` say what the client wanted and does not get."""

    mode: Mode
    allowed_tools: tuple[str, ...]
    instructions: str
    max_steps: int | None
    notices: tuple[str, ...]


def accepted_settings(wanted: NewSession, default: Mode, max_mode: Mode, tells_mode: bool) -> AcceptedSettings:
    """`default` is the mode that the person has configured, `max_mode` the freest that a client may choose. Raises
    BadInput."""
    settings = wanted.settings or WantedSettings()
    refused = {
        "system_prompt": settings.system_prompt,
        "hooks": wanted.hooks,
        "commands": wanted.commands,
        "agents": wanted.agents,
    }
    names = ", ".join(name for name, value in refused.items() if value)
    notices = (
        [t("These settings of the client are not supported and have no effect: {names}.", names=names)]
        if names
        else []
    )
    mode = _mode(settings.permission_mode, default)
    freest = freer_mode(default, max_mode)
    if tells_mode and freer_mode(mode, freest) != freest:
        hint = t("`acp.max_mode` in your configuration allows more.")
        notices.append(
            t(
                "The mode is {mode}, because {wanted} is not allowed to this client. {hint}",
                mode=freest,
                wanted=mode,
                hint=hint,
            )
        )
    refused_tools = tuple(f"-{name}" for name in settings.disallowed_tools or ())
    return AcceptedSettings(
        mode=stricter_mode(mode, freest),
        allowed_tools=(*(settings.allowed_tools or ()), *refused_tools),
        instructions=settings.append_system_prompt or "",
        max_steps=settings.max_turns,
        notices=tuple(notices),
    )


def absolute_folder(path: str, name: str = "cwd") -> str:
    """Raises BadInput."""
    if not os.path.isabs(path):
        raise BadInput(say("{name} must be an absolute path, not {path}", name=name, path=repr(path)))
    if not os.path.isdir(path):
        raise BadInput(say("there is no folder {folder}", folder=repr(path)))
    return path


def additional_folders(wanted: NewSession) -> tuple[str, ...]:
    """The folders of the editor's own workspace besides `cwd`. Raises BadInput."""
    found = [
        absolute_folder(each, "a folder of additionalDirectories") for each in wanted.additional_directories or ()
    ]
    return tuple(dict.fromkeys(each for each in found if each != wanted.cwd))


def folders_to_confirm(wanted: NewSession) -> tuple[str, ...]:
    """The folders that a person is asked about, because a program named them, not an editor."""
    named = (wanted.settings and wanted.settings.add_dirs) or ()
    folders = [os.path.normpath(os.path.join(wanted.cwd, each)) for each in named]
    return tuple(dict.fromkeys(each for each in folders if os.path.isdir(each)))


def _mode(name: str | None, default: Mode) -> Mode:
    if name is None:
        return default
    found = mode_called(name)
    if found is None:
        raise BadInput(t("unknown mode {name}", name=repr(name)))
    return found


_NAME_CHARS = 40


def lent_servers(given: Iterable[Fields]) -> tuple[dict[str, LentServer], list[str]]:
    """The servers that can be used, by name, and the names of the others."""
    found: dict[str, LentServer] = {}
    unusable: list[str] = []
    for each in given:
        name = re.sub("[^A-Za-z0-9_-]", "_", str(each.get("name") or ""))[:_NAME_CHARS]
        server = _server(each)
        if server is None or not name or name in found:
            unusable.append(name or "?")
        else:
            found[name] = server
    return found, unusable


def _server(given: Fields) -> LentServer | None:
    """A program, or an address that speaks HTTP; None for anything else, such as the older SSE."""
    kind: object = given.get("type") or ("http" if "url" in given or "httpUrl" in given else "stdio")
    command: object = given.get("command")
    url: object = given.get("httpUrl") or given.get("url")
    match kind:
        case "stdio" if isinstance(command, str) and command:
            args: object = given.get("args") or []
            words = tuple(map(str, cast("list[Any]", args))) if isinstance(args, list) else ()
            return LentServer(command=command, args=words, env=_pairs(given.get("env")))
        case "http" | "streamable-http" if isinstance(url, str) and _is_address(url):
            return LentServer(url=url, headers=_pairs(given.get("headers")))
        case _:
            return None


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _pairs(given: object) -> dict[str, str]:
    """ACP has a list of names and values, and clients made for iFlow have a map too."""
    if isinstance(given, dict):
        return {str(name): str(value) for name, value in cast("Fields", given).items()}
    listed = cast("list[Any]", given) if isinstance(given, list) else []
    both = [cast("Fields", each) for each in listed if isinstance(each, dict)]
    return {str(each.get("name", "")): str(each.get("value", "")) for each in both}
