"""The argument parser of all subcommands, with help, errors and option descriptions in the person's language."""

import argparse
import os

from coderelay.client.i18n import retell, t

TYPE_CHECKING = False  # like typing.TYPE_CHECKING; `--help` would wait for typing to load
if TYPE_CHECKING:
    from typing import NoReturn

AGENTS = ("native", "guide")
PICK = "\0"
"""The value of `--resume` without an ID. Nobody can type it."""
SUBCOMMANDS = (
    *("web", "app", "feishu", "acp", "sessions", "resume", "asks", "answer", "permissions", "mcp", "model"),
    "doctor",
    "completions",
)
_COLUMNS = 80
_USAGE_LINES = 3
_FIXED = (  # argparse's own texts
    "usage: ",
    "positional arguments:\n",
    "options:\n",
    "show this help message and exit",
    "show program's version number and exit",
)


class LocalizedArgumentParser(argparse.ArgumentParser):
    def format_usage(self) -> str:
        return _translated(super().format_usage())

    def format_help(self) -> str:
        return _translated(super().format_help())

    def option_names(self) -> list[str]:
        return [name for each in self._actions for name in each.option_strings]

    def error(self, message: str) -> "NoReturn":
        """The usage text has many lines and would hide the message, so the message names `--help` instead."""
        usage = self.format_usage()
        is_short = usage.count("\n") <= _USAGE_LINES
        told = t("{program}: error: {message}\n", program=self.prog, message=retell(message))
        more = "" if is_short else t("`{program} --help` lists all options.", program=self.prog) + "\n"
        self.exit(2, f"{usage if is_short else ''}{told}{more}")


class HelpText(argparse.RawDescriptionHelpFormatter):
    """Keeps the line ends of descriptions. It finds the width of the terminal as argparse does, but without shutil,
    which would load three libraries for compression at every start."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_columns() - 2)


def port_number(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 0 <= int(text[:6]) <= 65535):
        raise argparse.ArgumentTypeError(t("must be a port number"))
    return int(text)


def _columns() -> int:
    told = os.environ.get("COLUMNS", "")
    if told.isdecimal() and int(told) > 0:
        return int(told)
    try:
        return os.get_terminal_size(1).columns or _COLUMNS
    except OSError:  # no terminal
        return _COLUMNS


def _translated(text: str) -> str:
    for each in _FIXED:
        text = text.replace(each, t(each))
    return text
