"""Which of the settings that a client requests for a new session are accepted."""

import os

from msgspec import Struct

from coderelay.acp.request_params import NewSession, WantedSettings
from coderelay.client.i18n import t
from coderelay.protocol.errors import BadInput
from coderelay.protocol.modes import freer_mode, mode_called, stricter_mode
from coderelay.protocol.session_setting_values import Mode


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
    notices = [t("These settings of the client are not used: {names}.", names=names)] if names else []
    mode = _mode(settings.permission_mode, default)
    freest = freer_mode(default, max_mode)
    if tells_mode and freer_mode(mode, freest) != freest:
        hint = t("`acp.max_mode` in your configuration allows more.")
        notices.append(t("The mode is {mode} and not {wanted}. {hint}", mode=freest, wanted=mode, hint=hint))
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
        raise BadInput(f"{name} must be an absolute path, not {path!r}")
    if not os.path.isdir(path):
        raise BadInput(f"there is no folder {path!r}")
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
