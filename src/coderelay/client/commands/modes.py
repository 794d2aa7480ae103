"""`/mode` and its short forms, `/permissions`, `/think`: what needs no asking, and how hard the model thinks."""

from coderelay.client.commands.command import Context
from coderelay.client.language import t
from coderelay.client.permissions import permissions_in_words
from coderelay.protocol.commands import ConfigureSession
from coderelay.protocol.errors import BadInput
from coderelay.protocol.events import Mode, Preset, Think
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
