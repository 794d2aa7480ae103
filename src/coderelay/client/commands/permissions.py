"""`/permissions`: what is allowed, and the preset of mode default."""

from typing import get_args

from coderelay.client.commands.slash_command import MODEL, Context, SlashCommand
from coderelay.client.i18n import t
from coderelay.client.permissions_overview_text import permissions_in_words
from coderelay.protocol.bilingual_text import Localized
from coderelay.protocol.commands import ConfigureSession
from coderelay.protocol.errors import BadInput
from coderelay.protocol.queries import ShowPermissions
from coderelay.protocol.session_setting_values import Preset

_PRESETS: dict[str, Preset] = {each: each for each in get_args(Preset)}
_NO_PROFILE = "no-profile"


async def permissions(here: Context, name: str) -> str:
    if name == _NO_PROFILE:
        await here.client.send(ConfigureSession(session=here.session, profile="", by=here.by))
    elif name:
        preset = _PRESETS.get(name)
        if preset is None:
            names = ", ".join((*_PRESETS, _NO_PROFILE))
            raise BadInput(t("unknown preset {name}; choose one of {names}", name=repr(name), names=names))
        await here.client.send(ConfigureSession(session=here.session, preset=preset, by=here.by))
    return permissions_in_words(await here.client.get(ShowPermissions(here.session)))


COMMANDS = (
    SlashCommand(
        name="permissions",
        group=MODEL,
        text=Localized(
            "show what is allowed, asked or denied, or change the preset of default mode",
            "展示当前权限矩阵，或切换权限预设",
        ),
        run=permissions,
        hint=f"[{'|'.join((*_PRESETS, _NO_PROFILE))}]",
        detail=Localized(
            "A preset applies to this session only; your own rules stay in force. `no-profile` takes a session out "
            "of the profile it was created with (cowork); it cannot go back.",
            "预设仅在本会话中生效；你自己的规则不变。`no-profile` 使会话退出创建时的配置档（cowork），且不能恢复。",
        ),
        example="/permissions strict",
    ),
)
