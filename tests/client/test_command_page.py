"""docs/commands.md has one table for each group of `/help`, made from the records of the commands.

`CODER_UPDATE_SNAPSHOTS=1` writes the tables anew.
"""

import os
import re
from pathlib import Path

from coderelay.client.commands.slash_command import GROUPS, SlashCommand
from coderelay.client.slash_commands import COMMANDS
from coderelay.protocol.bilingual_text import Localized

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"
TABLE = re.compile(r"(?:\|.*\n)+")


def row(command: SlashCommand) -> str:
    usage = command.usage.replace("|", r"\|")
    detail = f" {command.detail.english}" if command.detail is not None else ""
    return f"| `{usage}` | {command.text.english[0].upper()}{command.text.english[1:]}.{detail} |\n"


def test_the_page_for_users_has_a_row_for_each_command() -> None:
    page = PAGE.read_text()
    wanted = page
    for group in GROUPS:
        found = TABLE.search(wanted, wanted.index(f"\n## {group.english}\n"))
        assert found is not None
        wanted = wanted[: found.start()] + table(group) + wanted[found.end() :]
    if os.environ.get("CODER_UPDATE_SNAPSHOTS"):
        PAGE.write_text(wanted)
    else:
        assert page == wanted, "CODER_UPDATE_SNAPSHOTS=1 writes the tables anew"


def table(group: Localized) -> str:
    rows = [row(each) for each in COMMANDS if each.offered and each.group == group]
    return "".join(["| command | what it does |\n|---|---|\n", *rows])
