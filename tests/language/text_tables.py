"""Texts that stand in a table of one file and go through `t` in another. What cannot be read off a call of `t` is
listed here, by the file of that call."""

import json
from collections.abc import Callable, Iterable
from typing import get_args

from coderelay.protocol.projected_rows import Phase
from coderelay.protocol.query_results import HostShown
from tests.language.text_literals import ROOM, constants_of


def _phases() -> Iterable[str]:
    return get_args(Phase)


def _agents() -> Iterable[str]:
    found = constants_of("host/local_machine_queries.py")
    return [*found["_DESCRIPTIONS"], *found["_INSTALLED"]]


TABLES: dict[str, Callable[[], Iterable[str]]] = {
    "cli/startup/localized_argument_parser.py": lambda: constants_of("cli/startup/localized_argument_parser.py")[
        "_FIXED"
    ],
    "cli/sessions.py": _phases,
    "client/commands/session_info.py": lambda: [
        *_phases(),
        *get_args(HostShown.__annotations__["owner"]),
        *constants_of("session/context_usage.py")["_PARTS"],
    ],
    "client/commands/diff_undo_rewind.py": lambda: constants_of("client/commands/diff_undo_rewind.py")["_KINDS"],
    "client/commands/tasks_and_ps.py": _phases,
    "client/commands/tools_skills_agents_mcp.py": _agents,
    "client/find_session.py": _phases,
    "client/slash_command_help_and_completion.py": lambda: constants_of(
        "client/slash_command_help_and_completion.py"
    )["_HEADINGS"],
    "surfaces/terminal/slash_command_pickers.py": _phases,
    "surfaces/terminal/drawing/prompt_and_note_lines.py": lambda: [
        text
        for text in constants_of("surfaces/terminal/drawing/prompt_and_note_lines.py")["_ENDINGS"]
        if text.isascii() and text
    ],
}


def of_older_versions(language: str) -> frozenset[str]:
    """Templates and texts that only logs of older versions contain."""
    file = json.loads((ROOM / "languages" / f"{language}.json").read_text())
    return frozenset(file["log_messages"]["logs of older versions"])
