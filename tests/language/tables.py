"""Texts that stand in a table of one file and go through `t` in another. What cannot be read off a call of `t` is
listed here, by the file of that call."""

from collections.abc import Callable, Iterable
from typing import get_args

from coderelay.client.built_in import BUILT_IN
from coderelay.client.commands.details import DETAILS
from coderelay.protocol.overview import HostShown
from coderelay.protocol.summary import Phase
from tests.language.literals import constants_of


def _phases() -> Iterable[str]:
    return get_args(Phase)


def _built_in() -> Iterable[str]:
    return [text for each in BUILT_IN for text in (each.group, each.description)]


def _agents() -> Iterable[str]:
    found = constants_of("host/surroundings.py")
    return [*found["_DESCRIPTIONS"], *found["_INSTALLED"]]


TABLES: dict[str, Callable[[], Iterable[str]]] = {
    "cli/arguments.py": lambda: constants_of("cli/arguments.py")["_FIXED"],
    "cli/sessions.py": _phases,
    "client/built_in.py": _built_in,
    "client/changed_files.py": lambda: constants_of("client/changed_files.py")["_KINDS"],
    "client/overview.py": lambda: [*constants_of("session/context.py")["_PARTS"], *_agents()],
    "client/session_names.py": _phases,
    "client/status.py": lambda: [*_phases(), *get_args(HostShown.__annotations__["owner"])],
    "client/tasks.py": _phases,
    "client/typed_commands.py": lambda: [*_built_in(), *(each.changes for each in DETAILS.values())],
    "surfaces/terminal/choosing.py": _phases,
    "surfaces/terminal/drawing/lines.py": lambda: [
        text for text in constants_of("surfaces/terminal/drawing/lines.py")["_ENDINGS"] if text.isascii() and text
    ],
    "surfaces/terminal/input/completion.py": _built_in,
}
