"""`/mode` and its short forms, `/permissions`, `/think`: permission modes and presets, and thinking effort."""

from typing import get_args

from coderelay.client.commands.command import MODEL, Context, SlashCommand
from coderelay.client.i18n import t
from coderelay.client.permissions_overview_text import permissions_in_words
from coderelay.protocol.commands import ConfigureSession
from coderelay.protocol.errors import BadInput
from coderelay.protocol.localized_text import Localized
from coderelay.protocol.modes import MODE_NAMES, MODES, ModeSpec, mode_called
from coderelay.protocol.queries import ShowPermissions, ShowSession
from coderelay.protocol.session_setting_types import Preset, Think

_PRESETS: dict[str, Preset] = {each: each for each in get_args(Preset)}
_LEVELS: dict[str, Think] = {each: each for each in get_args(Think)}
_NO_PROFILE = "no-profile"


async def mode(here: Context, name: str) -> str:
    if not name:
        return t("mode: {mode}", mode=(await here.client.get(ShowSession(here.session))).mode)
    wanted = mode_called(name)
    if wanted is None:
        names = ", ".join(MODE_NAMES)
        raise BadInput(t("unknown mode {name}; choose one of {names}", name=repr(name), names=names))
    await here.client.send(ConfigureSession(session=here.session, mode=wanted, by=here.by))
    return t("mode: {mode}", mode=wanted)


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


async def think(here: Context, level: str) -> str:
    if not level:
        return t("think: {level}", level=(await here.client.get(ShowSession(here.session))).think)
    wanted = _LEVELS.get(level)
    if wanted is None:
        raise BadInput(t("unknown level {name}; choose one of {names}", name=repr(level), names=", ".join(_LEVELS)))
    await here.client.send(ConfigureSession(session=here.session, think=wanted, by=here.by))
    return t("think: {level}", level=wanted)


_CHANGES_MODE = Localized(
    "Takes effect at the next tool call, even in a running turn; applies to this session only.",
    "从下一次工具调用起生效，正在运行的回合也一样；仅限本会话。",
)


def _short_form(spec: ModeSpec) -> SlashCommand:
    async def run(here: Context, _: str) -> str:
        return await mode(here, spec.name)

    return SlashCommand(name=spec.name, group=MODEL, text=spec.text, run=run, detail=_CHANGES_MODE)


COMMANDS = (
    SlashCommand(
        name="mode",
        group=MODEL,
        text=Localized("show or change the permission mode", "查看或切换权限模式"),
        run=mode,
        hint=f"[{'|'.join(MODE_NAMES)}]",
        detail=_CHANGES_MODE,
        example="/mode plan",
    ),
    *map(_short_form, MODES),
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
    SlashCommand(
        name="think",
        group=MODEL,
        text=Localized("show or set how much the model thinks before it answers", "查看或设置模型回答前的思考强度"),
        run=think,
        hint=f"[{'|'.join(_LEVELS)}]",
        detail=Localized(
            "Takes effect at the next request to the model; applies to this session only.",
            "从下一次请求起生效，仅限本会话。",
        ),
        example="/think high",
        remote=True,
    ),
)
