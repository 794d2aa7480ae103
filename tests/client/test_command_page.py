"""docs/commands.md has one table for each group of `/help`, made from the records of the commands.

`CODER_UPDATE_SNAPSHOTS=1` writes the tables anew.
"""

import os
import re
from pathlib import Path

import pytest

from coderelay.client.commands.command import GROUPS, SlashCommand
from coderelay.client.slash_commands import COMMANDS
from coderelay.protocol.localized import Localized

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"
TABLE = re.compile(r"(?:\|.*\n)+")


def row(command: SlashCommand) -> str:
    usage = command.usage.replace("|", r"\|")
    detail = f" {command.detail.english}" if command.detail is not None else ""
    return f"| `{usage}` | {command.text.english[0].upper()}{command.text.english[1:]}.{detail} |\n"


@pytest.mark.parametrize("group", GROUPS, ids=[each.english for each in GROUPS])
def test_the_page_for_users_has_a_row_for_each_command(group: Localized) -> None:
    rows = [row(each) for each in COMMANDS if each.offered and each.group == group]
    wanted = "".join(["| command | what it does |\n|---|---|\n", *rows])
    page = PAGE.read_text()
    start = page.index(f"\n## {group.english}\n")
    found = TABLE.search(page, start)
    assert found is not None
    if os.environ.get("CODER_UPDATE_SNAPSHOTS"):
        page = page[: found.start()] + wanted + page[found.end() :]
        PAGE.write_text(page)
    else:
        assert found[0] == wanted, "CODER_UPDATE_SNAPSHOTS=1 writes the table anew"
