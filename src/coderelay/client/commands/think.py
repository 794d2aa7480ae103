"""`/think`: how much the model thinks."""

from typing import get_args

from coderelay.client.commands.slash_command import MODEL, Context, SlashCommand
from coderelay.client.i18n import t
from coderelay.protocol.bilingual_text import Localized
from coderelay.protocol.commands import ConfigureSession
from coderelay.protocol.errors import BadInput
from coderelay.protocol.queries import ShowSession
from coderelay.protocol.session_setting_values import Think

_LEVELS: dict[str, Think] = {each: each for each in get_args(Think)}


async def think(here: Context, level: str) -> str:
    if not level:
        return t("think: {level}", level=(await here.client.get(ShowSession(here.session))).think)
    wanted = _LEVELS.get(level)
    if wanted is None:
        raise BadInput(t("unknown level {name}; choose one of {names}", name=repr(level), names=", ".join(_LEVELS)))
    await here.client.send(ConfigureSession(session=here.session, think=wanted, by=here.by))
    return t("think: {level}", level=wanted)


COMMANDS = (
    SlashCommand(
        name="think",
        group=MODEL,
        text=Localized("show or set how much the model thinks before it answers", "查看或设置模型回答前的思考强度"),
        run=think,
        choices=tuple(_LEVELS),
        detail=Localized(
            "Takes effect at the next request to the model; applies to this session only.",
            "从下一次请求起生效，仅限本会话。",
        ),
        example="/think high",
        remote=True,
    ),
)
