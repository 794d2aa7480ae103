"""Texts that stand in a table of one file and go through `t` in another. What cannot be read off a call of `t` is
listed here, by the file of that call."""

from collections.abc import Callable, Iterable
from typing import get_args

from coderelay.protocol.overview import HostShown
from coderelay.protocol.summary import Phase
from tests.language.literals import constants_of


def _phases() -> Iterable[str]:
    return get_args(Phase)


def _agents() -> Iterable[str]:
    found = constants_of("host/surroundings.py")
    return [*found["_DESCRIPTIONS"], *found["_INSTALLED"]]


TABLES: dict[str, Callable[[], Iterable[str]]] = {
    "cli/arguments.py": lambda: constants_of("cli/arguments.py")["_FIXED"],
    "cli/sessions.py": _phases,
    "client/commands/looks.py": _phases,
    "client/changed_files.py": lambda: constants_of("client/changed_files.py")["_KINDS"],
    "client/overview.py": lambda: [*constants_of("session/context.py")["_PARTS"], *_agents()],
    "client/session_names.py": _phases,
    "client/status.py": lambda: [*_phases(), *get_args(HostShown.__annotations__["owner"])],
    "client/typed_commands.py": lambda: constants_of("client/typed_commands.py")["_HEADINGS"],
    "surfaces/terminal/choosing.py": _phases,
    "surfaces/terminal/drawing/lines.py": lambda: [
        text for text in constants_of("surfaces/terminal/drawing/lines.py")["_ENDINGS"] if text.isascii() and text
    ],
}
