"""`coder [PATH]` and `coder -p PROMPT`."""

import argparse
import os
import sys

from coderelay import __version__

_EXIT_CODES = """\
commands:
  coder sessions [list|show ID|export ID|delete ID]
  coder resume ID       open a session again and carry on what was cut off
  coder asks            everything that waits for a person
  coder answer ASK_ID allow|deny|stop|TEXT
  coder permissions [list|revoke ID|trust [DIR]|untrust [DIR]]
  coder mcp [list|add NAME -- COMMAND|remove NAME]   programs whose tools the agent may use
  coder model [list|install NAME|add PATH.gguf|remove NAME]   models that run on this machine
  coder doctor          what was found here, what is missing, what to do

exit codes of -p: 0 done, 1 the turn failed, 2 usage, 3 something was denied because nobody could
answer, 4 step limit, 5 parked, 130 interrupted
"""


def parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="coder",
        description="A coding agent whose sessions survive anything and can be steered from anywhere.",
        epilog=_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("path", nargs="?", metavar="PATH", help="the folder to work in (default: here)")
    parser.add_argument("-p", "--prompt", metavar="PROMPT", help="one turn without a terminal; - reads stdin")
    parser.add_argument("--output", choices=("text", "json", "stream-json"), default="text")
    parser.add_argument("--mode", choices=("plan", "default", "auto-edit", "yolo"))
    parser.add_argument("--model", metavar="PROVIDER:NAME")
    parser.add_argument("--agent", choices=("native", "guide"))
    parser.add_argument("--resume", metavar="ID", help="go on with this session")
    parser.add_argument("--continue", dest="latest", action="store_true", help="go on with the newest session here")
    parser.add_argument("--allowed-tools", metavar="A,B", help="only these tools may be used")
    parser.add_argument(
        "--unattended",
        choices=("park", "deny", "allow"),
        help="what to do when something must be asked and nobody is there (default: deny)",
    )
    parser.add_argument("--max-steps", type=_positive, metavar="N", help="at most N model answers in a turn")
    parser.add_argument("--cwd", metavar="DIR", help="the folder to work in")
    parser.add_argument("-V", "--version", action="version", version=f"coder {__version__}")
    return parser


def main(arguments: list[str]) -> int:
    options, folder, prompt = parse(arguments)

    from coderelay.cli.turn import run  # --help and usage errors do not need the house

    return run(options, folder, prompt)


def parse(arguments: list[str]) -> tuple[argparse.Namespace, str, str | None]:
    """The options, the folder, and the prompt if there is one. Leaves with 2 if something is wrong."""
    options = parser().parse_args(arguments)
    if options.resume and options.latest:
        parser().error("--resume and --continue exclude each other")
    if options.path and options.cwd:
        parser().error("give the folder once: PATH or --cwd")
    folder = os.path.realpath(options.cwd or options.path or ".")
    if not os.path.isdir(folder):
        parser().error(f"there is no folder {folder}")
    if not _is_text(folder):
        parser().error("the folder's name is not UTF-8, which coder cannot work with")
    prompt = sys.stdin.buffer.read() if options.prompt == "-" else _bytes(options.prompt)
    if prompt is not None and not prompt.strip():
        parser().error("the prompt is empty")
    return options, folder, None if prompt is None else prompt.decode("utf-8", "replace")


def _bytes(argument: str | None) -> bytes | None:
    """An argument as it was typed, whatever its encoding."""
    return None if argument is None else os.fsencode(argument)


def _is_text(name: str) -> bool:
    return name == os.fsencode(name).decode("utf-8", "replace")


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number
