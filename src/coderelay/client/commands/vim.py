"""`/vim`: edit the input with vi's keys."""

from coderelay.client.commands.slash_command import SHOW, Context, SlashCommand
from coderelay.client.slash_results import ViKeys
from coderelay.protocol.bilingual_text import Localized


async def vim(here: Context, wanted: str) -> ViKeys:
    if wanted not in ("", "on", "off"):
        raise here.usage_error()
    return ViKeys(None if not wanted else wanted == "on")


COMMANDS = (
    SlashCommand(
        name="vim",
        group=SHOW,
        text=Localized(
            "edit the input with vi's keys, or with the usual ones again", "用 vi 按键编辑输入，或恢复常用按键"
        ),
        run=vim,
        choices=("on", "off"),
        detail=Localized(
            "Applies to this terminal; editor.vim in the configuration sets it for good. Esc leaves insert "
            "mode; on an empty line it stops the turn.",
            "对本终端生效；配置项 editor.vim 可长期设置。Esc 退出插入模式；输入为空时停止回合。",
        ),
        example="/vim on",
    ),
)
