"""`/output`: how much of what tools print is shown."""

from coderelay.client.commands.slash_command import SHOW, Context, SlashCommand
from coderelay.client.slash_results import OutputLines
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
)
