"""`/output` and `/vim`: how this terminal shows what tools print, and takes keys."""

from coderelay.client.commands.slash_command import SHOW, Context, SlashCommand
from coderelay.client.slash_results import OutputLines, ViKeys
from coderelay.protocol.bilingual_text import Localized

_MOST = 1_000_000
_ALL = ("full", "all", "0")


async def output(here: Context, lines: str) -> OutputLines:
    if not lines:
        return OutputLines(None)
    if lines in _ALL:
        return OutputLines(0)
    if not lines.isascii() or not lines.isdecimal() or int(lines) > _MOST:
        raise here.usage_error()
    return OutputLines(int(lines))


async def vim(here: Context, wanted: str) -> ViKeys:
    if wanted not in ("", "on", "off"):
        raise here.usage_error()
    return ViKeys(None if not wanted else wanted == "on")


COMMANDS = (
    SlashCommand(
        name="output",
        group=SHOW,
        text=Localized(
            "shorten what tools print to N lines, or show it in full", "把工具输出缩短为 N 行，或完整显示"
        ),
        run=output,
        hint="[N|full]",
        choices=("full",),
        detail=Localized(
            "Applies to this terminal from now on; display.output_lines in the configuration sets it for good. "
            "Ctrl+T shows what was shortened last.",
            "从现在起对本终端生效；配置项 display.output_lines 可长期设置。Ctrl+T 完整显示最近一次缩短的输出。",
        ),
        example="/output 12",
    ),
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
