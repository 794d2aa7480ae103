"""The message at the start about what a folder brings and the person has not trusted yet."""

from collections.abc import Sequence

from coderelay.app import App
from coderelay.client.i18n import t
from coderelay.config.mcp_json import MCP_FILE
from coderelay.protocol.errors import BadInput
from coderelay.protocol.text_escaping_and_width import visible

_SHOWN = 8
_KINDS = {"commands": "commands {names}", "skills": "skills {names}", "agents": "agents {names}"}
_MARKS = {"commands": "/"}


def untrusted_settings(app: App) -> str:
    """Names the folder's untrusted settings, for `-p`; empty if it has none."""
    return _message(_files(app), "`coder permissions trust`")


def untrusted_everything(app: App, folder: str) -> str:
    """Names the folder's untrusted settings, commands, skills and agents, for a person who can type `/trust`; empty
    if it has none."""
    try:
        texts = app.folders.untrusted_names(folder)
    except BadInput:  # the list of trusted folders cannot be read; the code that uses it reports the error
        texts = {}
    named = [t(_KINDS[kind], names=_some(names, _MARKS.get(kind, ""))) for kind, names in texts.items()]
    return _message([*_files(app), *named], "/trust")


def _files(app: App) -> list[str]:
    """Each file with its keys; `.mcp.json`, which has nothing but servers, with their names."""
    files: dict[str, list[str]] = {}
    for key, file in app.config.untrusted_files.items():
        files.setdefault(file, []).append(key.removeprefix("mcp_servers.") if file == MCP_FILE else key)
    return [f"{file} ({_some(keys)})" for file, keys in files.items()]


def _some(names: Sequence[str], mark: str = "") -> str:
    told = [f"{mark}{visible(each)}" for each in names[:_SHOWN]]
    return ", ".join([*told, "…"] if len(names) > _SHOWN else told)


def _message(things: list[str], how: str) -> str:
    if not things:
        return ""
    return t("not trusted yet, so not used: {things}; review with {how}", things="; ".join(things), how=how)
