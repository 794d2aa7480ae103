"""`/config` and `/add-dir`: the settings that hold here, and the folders of the session."""

import os

import msgspec

from coderelay.client.commands.slash_command import FILES, MODEL, Context, SlashCommand
from coderelay.client.i18n import t
from coderelay.protocol.bilingual_text import Localized
from coderelay.protocol.commands import ConfigureSession, SetSetting
from coderelay.protocol.errors import BadInput
from coderelay.protocol.queries import ListSettings, ShowSession
from coderelay.protocol.query_results import SettingShown

_UNSET = "unset"


async def config(here: Context, rest: str) -> str:
    key, _, written = rest.partition(" ")
    if written.strip():
        await here.client.send(SetSetting(session=here.session, key=key, value=_value(written.strip()), by=here.by))
    shown = [each for each in await here.client.get(ListSettings(here.session)) if not key or _is_meant(each, key)]
    if shown:
        return "\n".join(map(_line, shown))
    if written.strip():
        return t("{key} is not set", key=key)
    raise BadInput(t("there is no setting {key}; /config lists all", key=repr(key)))


def _is_meant(setting: SettingShown, key: str) -> bool:
    return setting.key == key or setting.key.startswith(f"{key}.")


def _value(written: str) -> str | None:
    """JSON as it is; anything else is a text. None takes the setting out."""
    if written == _UNSET:
        return None
    try:
        msgspec.json.decode(written)
    except msgspec.DecodeError:
        return msgspec.json.encode(written).decode()
    return written


def _line(setting: SettingShown) -> str:
    source = ", ".join(setting.sources) or t("default")
    return f"{setting.key} = {setting.value}  ({source})"


async def add_folder(here: Context, path: str) -> str:
    row = await here.client.get(ShowSession(here.session))
    if not path:
        return "\n".join((row.cwd, *row.folders))
    folder = os.path.realpath(os.path.join(row.cwd, os.path.expanduser(path)))
    folders = tuple(dict.fromkeys((*row.folders, folder)))
    await here.client.send(ConfigureSession(session=here.session, folders=folders, by=here.by))
    return t("added {folder}; /undo restores files in {cwd} only", folder=folder, cwd=row.cwd)


COMMANDS = (
    SlashCommand(
        name="config",
        group=MODEL,
        text=Localized(
            "show the settings that hold here and where each comes from, or set one for yourself",
            "显示当前生效的设置及其来源，或为自己设置一项",
        ),
        run=config,
        hint="[KEY] [VALUE|unset]",
        detail=Localized(
            "A VALUE is written to your own `~/.coder/config.json`; unset removes it there. Settings of the folder "
            "and of the environment may still win: the reply shows what holds.",
            "VALUE 写入你自己的 `~/.coder/config.json`；unset 则从中移除。目录或环境变量的设置仍可能优先："
            "回复会显示实际生效的值。",
        ),
        example="/config compaction.threshold 0.7",
    ),
    SlashCommand(
        name="add-dir",
        group=FILES,
        text=Localized(
            "list the folders of this session, or allow the tools to use another one",
            "列出本会话的目录，或允许工具使用另一个目录",
        ),
        run=add_folder,
        hint="[PATH]",
        detail=Localized(
            "Applies to this session; /undo restores files in the session's own folder only.",
            "在本会话中生效；/undo 只恢复会话自己目录中的文件。",
        ),
        example="/add-dir ../shared",
        completes="folder",
    ),
)
