"""`/mode` and its short forms, `/permissions`, `/think`: what needs no asking, and how hard the model thinks."""

from coderelay.client.commands.command import MODEL, Context, SlashCommand
from coderelay.client.language import t
from coderelay.client.permissions import permissions_in_words
from coderelay.protocol.commands import ConfigureSession
from coderelay.protocol.errors import BadInput
from coderelay.protocol.events import Mode, Preset, Think
from coderelay.protocol.localized import Localized
from coderelay.protocol.queries import ShowPermissions, ShowSession

_MODES: dict[str, Mode] = {
    "plan": "plan",
    "default": "default",
    "auto-edit": "auto-edit",
    "autoEdit": "auto-edit",
    "smart": "auto-edit",
    "yolo": "yolo",
}
_PRESETS: dict[str, Preset] = {each: each for each in ("strict", "balanced", "auto-edit", "yolo")}
_THINK: dict[str, Think] = {"auto": "auto", "off": "off", "low": "low", "medium": "medium", "high": "high"}


async def mode(here: Context, name: str) -> str:
    if not name:
        return t("mode: {mode}", mode=(await here.client.get(ShowSession(here.session))).mode)
    wanted = _MODES.get(name)
    if wanted is None:
        names = "plan, default, auto-edit, yolo"
        raise BadInput(t("there is no mode {name}; there are {names}", name=repr(name), names=names))
    await here.client.send(ConfigureSession(session=here.session, mode=wanted, by=here.by))
    return t("mode: {mode}", mode=wanted)


async def plan(here: Context, _: str) -> str:
    return await mode(here, "plan")


async def default(here: Context, _: str) -> str:
    return await mode(here, "default")


async def auto_edit(here: Context, _: str) -> str:
    return await mode(here, "auto-edit")


async def yolo(here: Context, _: str) -> str:
    return await mode(here, "yolo")


async def permissions(here: Context, name: str) -> str:
    if name:
        preset = _PRESETS.get(name)
        if preset is None:
            names = ", ".join(_PRESETS)
            raise BadInput(t("there is no preset {name}; there are {names}", name=repr(name), names=names))
        await here.client.send(ConfigureSession(session=here.session, preset=preset, by=here.by))
    return permissions_in_words(await here.client.get(ShowPermissions(here.session)))


async def think(here: Context, level: str) -> str:
    if not level:
        return t("think: {level}", level=(await here.client.get(ShowSession(here.session))).think)
    wanted = _THINK.get(level)
    if wanted is None:
        raise BadInput(t("there is no level {name}; there are {names}", name=repr(level), names=", ".join(_THINK)))
    await here.client.send(ConfigureSession(session=here.session, think=wanted, by=here.by))
    return t("think: {level}", level=wanted)


_CHANGES_MODE = Localized(
    "Counts for the next tool call, also in a turn that runs; in this session only.",
    "从下一次工具调用起生效，正在运行的回合也一样；仅限本会话。",
)
COMMANDS = (
    SlashCommand(
        name="mode",
        group=MODEL,
        text=Localized("show or change what needs no asking", "查看或切换模式"),
        run=mode,
        hint="[plan|default|auto-edit|yolo]",
        detail=_CHANGES_MODE,
        example="/mode plan",
    ),
    SlashCommand(
        name="plan",
        group=MODEL,
        text=Localized("mode plan: look and propose, change nothing", "plan 模式：分析、拆解并给出方案，不作改动"),
        run=plan,
        detail=_CHANGES_MODE,
    ),
    SlashCommand(
        name="default",
        group=MODEL,
        text=Localized(
            "mode default: as the preset of /permissions says", "default 模式：按 /permissions 的预设执行"
        ),
        run=default,
        detail=_CHANGES_MODE,
    ),
    SlashCommand(
        name="auto-edit",
        group=MODEL,
        text=Localized(
            "mode auto-edit: edit without asking, and check the work", "auto-edit 模式：直接编辑，并验证结果"
        ),
        run=auto_edit,
        detail=_CHANGES_MODE,
    ),
    SlashCommand(
        name="yolo",
        group=MODEL,
        text=Localized(
            "mode yolo: as auto-edit, and any command without asking", "yolo 模式：在 auto-edit 基础上，命令全部放行"
        ),
        run=yolo,
        detail=_CHANGES_MODE,
    ),
    SlashCommand(
        name="permissions",
        group=MODEL,
        text=Localized(
            "show what needs no asking, or change what mode default means", "展示当前权限矩阵，或切换权限预设"
        ),
        run=permissions,
        hint="[strict|balanced|auto-edit|yolo]",
        detail=Localized(
            "A preset counts in this session; your own rules stay.", "预设在本会话中生效；你自己的规则不变。"
        ),
        example="/permissions strict",
    ),
    SlashCommand(
        name="think",
        group=MODEL,
        text=Localized("how hard the model thinks before it answers", "模型回答前的思考强度"),
        run=think,
        hint="[auto|off|low|medium|high]",
        detail=Localized("Counts for what is asked next, in this session only.", "从下一次请求起生效，仅限本会话。"),
        example="/think high",
        remote=True,
    ),
)
