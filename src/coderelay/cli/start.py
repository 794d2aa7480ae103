"""`coder [PATH]` and `coder -p PROMPT`: the command-line options, and the choice of the surface."""

import argparse
import os
import sys

from coderelay import __version__
from coderelay.cli.startup.arguments import AGENTS, SUBCOMMANDS, Arguments, HelpText
from coderelay.cli.startup.current_folder import folder_gone_message, is_broad, resolved
from coderelay.client.language import t
from coderelay.protocol.modes import MODE_NAMES

_EXIT_CODES = """commands:
  coder sessions [list|search TEXT|show ID|export ID|delete ID|backup FILE]   manage sessions
  coder resume [ID]     reopen a session (without ID, the newest one in this folder) and continue interrupted work
  coder resume ID --here   the same for a session of another machine, and move it to this one
  coder asks            list everything that waits for your answer
  coder answer ASK_ID allow|deny|stop|TEXT   answer one of them
  coder permissions [list|revoke ID|check COMMAND|trust [DIR]|untrust [DIR]]   manage approvals and trusted folders
  coder mcp [list|add NAME -- COMMAND|remove NAME]   manage MCP servers
  coder model [list|install NAME|add PATH.gguf|remove NAME]   manage models that run on this machine
  coder doctor          check the setup: what was found, what is missing, what to do
  coder completions bash|zsh|fish   print a completion script for your shell

exit codes of -p: 0 done, 1 the turn failed, 2 wrong usage, 3 something was denied because nobody could
answer, 4 step limit reached, 5 parked (an ask stays open), 130 interrupted
"""


def parser() -> Arguments:
    parser = Arguments(
        prog="coder",
        description=t("A coding agent whose sessions survive anything and can be steered from anywhere."),
        epilog=t(_EXIT_CODES),
        formatter_class=HelpText,
        allow_abbrev=False,
    )
    parser.add_argument(
        "path", nargs="?", metavar="PATH", help=t("the folder to work in (default: the current folder)")
    )
    parser.add_argument(
        "-p",
        "--prompt",
        metavar="PROMPT",
        help=t("run one turn without a terminal and print the answer; - reads the prompt from stdin"),
    )
    parser.add_argument("--output", choices=("text", "json", "stream-json"), default="text")
    parser.add_argument("--mode", choices=MODE_NAMES)
    parser.add_argument("--model", metavar="PROVIDER:NAME")
    parser.add_argument("--agent", choices=AGENTS)
    parser.add_argument("--resume", metavar="ID", help=t("continue this session"))
    parser.add_argument(
        "--continue", dest="latest", action="store_true", help=t("continue the newest session in this folder")
    )
    parser.add_argument(
        "--here", action="store_true", help=t("with --resume: move the session from another machine to this one")
    )
    parser.add_argument("--allowed-tools", metavar="A,B", help=t("allow only these tools"))
    parser.add_argument(
        "--unattended",
        choices=("park", "deny", "allow"),
        help=t("what to do when a call needs permission and nobody can answer (default: deny)"),
    )
    parser.add_argument(
        "--max-steps", type=_positive, metavar="N", help=t("end a turn after N steps (answers of the model)")
    )
    parser.add_argument("--cwd", metavar="DIR", help=t("the folder to work in"))
    parser.add_argument("-V", "--version", action="version", version=f"coder {__version__}")
    return parser


def main(arguments: list[str]) -> int:
    options, folder, prompt = parse(arguments)
    return run(options, folder, prompt)


def run(options: argparse.Namespace, folder: str, prompt: str | None) -> int:
    """Load only what this run needs: --help and usage errors need no app, and pipes need no terminal surface."""
    is_named = options.cwd or options.path or options.resume is not None or options.latest
    if not is_named and is_broad(folder) and (problem := _why_not_in(folder)):
        sys.stderr.write(f"coder: {problem}\n")
        return 1
    if prompt is None and is_terminal():
        from coderelay.cli.startup.interrupts import RaisedInterrupts
        from coderelay.surfaces.terminal.input.typeahead import preserve_typeahead

        with RaisedInterrupts(), preserve_typeahead():
            from coderelay.cli.startup import repl

            return repl.run(options, folder)
    from coderelay.cli.startup.run_session import run_session

    return run_session(options, folder, prompt)


def _why_not_in(folder: str) -> str:
    """Why `coder` may not start in this broad folder; empty if the person has agreed to it."""
    from coderelay.cli.startup.broad_folder import check_broad_folder  # few people start there
    from coderelay.client.errors import error_in_words
    from coderelay.protocol.errors import CoderError

    try:
        check_broad_folder(folder)
    except CoderError as error:
        return error_in_words(error)
    return ""


def is_terminal() -> bool:
    """Whether a person is at a terminal that can show more than plain lines."""
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM", "dumb") not in ("dumb", "")


def parse(arguments: list[str]) -> tuple[argparse.Namespace, str, str | None]:
    """The options, the folder, and the prompt if there is one. Exits with 2 if something is wrong."""
    options = parser().parse_args(arguments)
    if options.resume is not None and options.latest:
        parser().error(t("--resume and --continue cannot be used together"))
    if options.here and options.resume is None:
        parser().error(t("--here needs --resume"))
    if options.path and options.cwd:
        parser().error(t("give the folder only once, as PATH or with --cwd"))
    folder = folder_of(options.cwd or options.path)
    if not os.path.isdir(folder):
        parser().error(_no_folder(folder, options.path or ""))
    if not _is_text(folder):
        parser().error(t("coder cannot work in a folder whose name is not UTF-8"))
    prompt = sys.stdin.buffer.read() if options.prompt == "-" else _bytes(options.prompt)
    if prompt is not None and not prompt.strip():
        parser().error(t("the prompt is empty"))
    return options, folder, None if prompt is None else _decoded(prompt)


def _no_folder(folder: str, given: str) -> str:
    from difflib import get_close_matches  # needed for this error only

    if near := get_close_matches(given, SUBCOMMANDS, 1):
        return t("there is no folder {folder}; did you mean `coder {name}`?", folder=folder, name=near[0])
    return t("there is no folder {folder}", folder=folder)


def folder_of(given: str | None) -> str:
    """The real path of the folder. Exits with 2 if the current one is meant and was removed."""
    try:
        return resolved(given or "")
    except OSError:
        parser().error(folder_gone_message())


def _bytes(argument: str | None) -> bytes | None:
    """The bytes of an argument as they were typed, whatever the encoding."""
    return None if argument is None else os.fsencode(argument)


def _decoded(text: bytes) -> str:
    """Text in UTF-8, or else in the encoding of the locale; what is neither is replaced."""
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return text.decode(sys.getfilesystemencoding(), "replace")


def _is_text(name: str) -> bool:
    return name == os.fsencode(name).decode("utf-8", "replace")


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(t("must be at least 1"))
    return number
