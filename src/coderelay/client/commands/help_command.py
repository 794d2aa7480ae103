"""`/help`: the commands and keys."""

from coderelay.client.commands.slash_command import ONLY_SHOWS, SHOW, Context, SlashCommand
from coderelay.client.slash_command_help_and_completion import help_of, help_text
from coderelay.protocol.bilingual_text import Localized


async def show_help(here: Context, name: str) -> str:
    if name == "keys" and here.keys:
        return here.keys
    if name:
        return await help_of(here.client, here.session, here.commands, name)
    told = await help_text(here.client, here.session, here.commands)
    return f"{here.keys}\n\n{told}" if here.keys else told


COMMANDS = (
    SlashCommand(
        name="help",
        group=SHOW,
        text=Localized("show this help, or the help of one command", "显示此帮助，或某个命令的说明"),
        run=show_help,
        hint="[COMMAND]",
        detail=ONLY_SHOWS,
        example="/help undo",
        completes="command",
        remote=True,
    ),
)
