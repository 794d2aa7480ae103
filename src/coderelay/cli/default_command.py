"""`coder` without a subcommand (`coder [PATH|PROMPT]`, `coder -p PROMPT`): its options and the choice of surface."""

import argparse
import os
import select
import stat
import sys

from coderelay import __version__
from coderelay.cli.startup.localized_argument_parser import (
    AGENTS,
    PICK,
    SUBCOMMANDS,
    HelpText,
    LocalizedArgumentParser,
)
from coderelay.cli.startup.real_folder_path import folder_gone_message, is_broad, resolved
from coderelay.client.i18n import t
from coderelay.protocol.modes import MODE_NAMES, MODES

_PATIENCE_SECONDS = 3.0
_EXIT_CODES = """commands:
  coder web [--port N] [--no-open]   open sessions in a browser on this machine
  coder app             the same in a window of its own
  coder acp             an agent for editors, which start it themselves
  coder feishu          a bot in the chats of Feishu or Lark
  coder sessions [list|search TEXT|show ID|export ID|delete ID|backup FILE]   manage sessions
  coder resume [ID] [PROMPT]   reopen a session (without ID, the newest one in this folder) and continue its work
  coder resume ID --here   the same for a session of another machine, and move it to this one
  coder asks            list everything that waits for your answer
  coder answer ASK_ID allow|deny|stop|TEXT   answer one of them
  coder permissions [list|revoke ID|check COMMAND|trust [DIR]|untrust [DIR]]   manage approvals and trusted folders
  coder mcp [list|add NAME -- COMMAND|remove NAME]   manage MCP servers
  coder model [list|install NAME|add PATH.gguf|remove NAME]   manage models that run on this machine
  coder doctor          check the setup: what was found, what is missing, what to do
  coder completions bash|zsh|fish   print a completion script for your shell

exit codes of -p: 0 done, 1 the turn failed or its output could not be written, 2 wrong usage, 3 something was
denied because nobody could answer, 4 step limit reached, 5 a question stays open, 130 interrupted
"""


def parser() -> LocalizedArgumentParser:
    parser = LocalizedArgumentParser(
        prog="coder",
        description=t(
            "A coding agent whose sessions survive crashes and continue in a terminal, browser, editor or chat."
        ),
        epilog=t(_EXIT_CODES),
        formatter_class=HelpText,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("path", nargs="?", metavar="PATH|PROMPT", help=t("the folder to work in, or the prompt to start with"))
    add(
        "-p",
        "--print",
        "--prompt",
        dest="prompt",
        nargs="?",
        const="",
        metavar="PROMPT",
        help=t("run one turn without a terminal and print the answer; piped input is added to the prompt"),
    )
    add(
        "--output",
        "--output-format",
        choices=("text", "json", "stream-json"),
        default="text",
        help=t("with -p: the answer as text, one JSON result, or one JSON message per line (default: text)"),
    )
    add("--verbose", action="store_true", help=t("with -p: also write progress to stderr if the output is JSON"))
    add(
        "-r",
        "--resume",
        nargs="?",
        const=PICK,
        metavar="ID",
        help=t("continue this session; without an ID, pick one"),
    )
    add(
        "-c",
        "--continue",
        dest="latest",
        action="store_true",
        help=t("continue the newest session in this folder"),
    )
    add("--here", action="store_true", help=t("with --resume: move the session from another machine to this one"))
    add_session_options(parser)
    parser.add_argument("-V", "--version", action="version", version=f"coder {__version__}")
    return parser


def add_session_options(parser: LocalizedArgumentParser) -> None:
    """Add the options that say how the session works, also for `coder resume`."""
    add = parser.add_argument
    add(
        "--mode",
        "--permission-mode",
        type=_mode,
        choices=MODE_NAMES,
        help=t("what the agent may do without asking; Claude Code's names for the modes are known too"),
    )
    add(
        "--full-auto",
        dest="mode",
        action="store_const",
        const="auto-edit",
        help=t("same as --mode auto-edit"),
    )
    add(
        "--dangerously-skip-permissions",
        "--yolo",
        "--dangerously-bypass-approvals-and-sandbox",
        dest="mode",
        action="store_const",
        const="yolo",
        help=t("same as --mode yolo: ask nothing, and run commands without a sandbox"),
    )
    add(
        "-m",
        "--model",
        metavar="PROVIDER:NAME",
        help=t("the model to use, for example {example}", example="anthropic:claude-sonnet-4-5"),
    )
    add("--agent", choices=AGENTS, help=t("who does the work: native needs a model, guide needs none"))
    add("--allowed-tools", metavar="A,B", help=t("allow only these tools"))
    add(
        "--unattended",
        choices=("park", "deny", "allow"),
        help=t("what to do when a call needs permission and nobody can answer (default: deny)"),
    )
    add(
        "--max-steps",
        "--max-turns",
        type=_positive,
        metavar="N",
        help=t("end a turn after N steps (answers of the model)"),
    )
    add("--append-system-prompt", metavar="TEXT", help=t("extra instructions for the model, kept with the session"))
    add("--add-dir", action="append", metavar="DIR", help=t("additional folder that the session may use"))
    add("-C", "--cwd", "--cd", metavar="DIR", help=t("the folder to work in"))


def main(arguments: list[str]) -> int:
    options, folder, prompt = parse(arguments)
    return run(options, folder, prompt)


def run(options: argparse.Namespace, folder: str, prompt: str | None) -> int:
    """Load only what this run needs: --help and usage errors need no app, and pipes need no terminal surface."""
    is_named = options.cwd or options.path or options.resume is not None or options.latest
    if not is_named and is_broad(folder) and (problem := _why_not_in(folder)):
        sys.stderr.write(f"coder: {problem}\n")
        return 1
    if options.resume == PICK and (prompt is not None or not is_terminal()):
        parser().error(
            t("--resume needs a session ID if there is a prompt or no terminal; `coder sessions` lists all sessions")
        )
    if prompt is None and is_terminal():
        from coderelay.cli.startup.event_loop_and_ctrl_c import CtrlCAsException
        from coderelay.surfaces.terminal.input.early_keys import keep_early_keys

        with CtrlCAsException(), keep_early_keys():
            from coderelay.cli.startup import show_prompt_while_loading

            return show_prompt_while_loading.run(options, folder)
    from coderelay.cli.startup.run_headless_or_plain_repl import run_without_terminal

    return run_without_terminal(options, folder, prompt)


def _why_not_in(folder: str) -> str:
    """Why `coder` may not start in this broad folder; empty if the person has agreed to it."""
    from coderelay.cli.startup.home_folder_consent import check_broad_folder  # few people start there
    from coderelay.client.i18n import error_in_words
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
    """The options, the folder, and the prompt of `-p` if there is one. A prompt for the terminal is
    `options.first_prompt`. Exits with 2 if something is wrong."""
    if arguments == ["help"] and not os.path.isdir("help"):
        arguments = ["--help"]
    coder = parser()
    options, unknown = coder.parse_known_args(arguments)
    if unknown:
        from coderelay.cli.startup.other_agents_argument_hints import unknown_arguments  # for errors only

        coder.error(unknown_arguments(unknown, options.path or "", coder.option_names()))
    if options.resume is not None and options.latest:
        parser().error(t("--resume and --continue cannot be used together"))
    if options.here and options.resume in (None, PICK):
        parser().error(t("--here needs --resume"))
    options.first_prompt = _take_prompt(options)
    if options.path and options.cwd:
        parser().error(t("give the folder only once, as PATH or with --cwd"))
    folder = checked_folder(options)
    if options.prompt is None:
        return options, folder, None
    options.piped = ""
    if options.prompt != "-":
        options.piped = decoded(_piped_input())
        prompt = decoded(os.fsencode(options.prompt))
    else:
        prompt = decoded(sys.stdin.buffer.read())
    if not prompt.strip():
        prompt, options.piped = options.piped, ""
    if not prompt.strip():
        parser().error(t("the prompt is empty"))
    return options, folder, prompt


def _take_prompt(options: argparse.Namespace) -> str:
    """The positional argument is a folder if there is one of that name. Otherwise it is the prompt: that of `-p` if
    that has none, else the first one for the terminal."""
    given = options.path
    if given is None or options.prompt or os.path.isdir(folder_of(given)) or not _may_be_prompt(given, options):
        return ""
    if options.prompt is None and (problem := _command_of_others(given)):
        parser().error(problem)
    options.path = None
    if options.prompt is None:
        return decoded(os.fsencode(given))
    options.prompt = given
    return ""


def _may_be_prompt(given: str, options: argparse.Namespace) -> bool:
    """Whether a text that names no folder is meant as a prompt, and not as a path or as a subcommand."""
    if len(given.split()) > 1 or not given.isascii():
        return True
    is_path = os.sep in given or given.startswith((".", "~"))
    return bool(given.strip()) and not is_path and not (options.latest and "=" in given) and not _near(given)


def _command_of_others(given: str) -> str:
    """What to use instead of a word that is a subcommand of another tool; empty if it is none."""
    if len(given.split()) > 1:
        return ""
    from coderelay.cli.startup.other_agents_argument_hints import command_of_others  # a prompt of one word is rare

    return command_of_others(given)


def _near(given: str) -> list[str]:
    from difflib import get_close_matches  # needed for a word that is neither a folder nor a subcommand

    return get_close_matches(given, SUBCOMMANDS, 1)


def _no_folder(folder: str, options: argparse.Namespace) -> str:
    given = options.path or ""
    if options.latest and "=" in given:
        from coderelay.cli.startup.other_agents_argument_hints import codex_setting  # for errors only

        return codex_setting(given)
    if near := _near(given):
        return t("no such folder: {folder}; did you mean `coder {name}`?", folder=folder, name=near[0])
    return t("no such folder: {folder}", folder=folder)


def checked_folder(options: argparse.Namespace) -> str:
    """The real path of the folder that the options name. Exits with 2 if `coder` cannot work there."""
    folder = folder_of(options.cwd or options.path)
    if not os.path.isdir(folder):
        parser().error(_no_folder(folder, options))
    if not _is_text(folder):
        parser().error(t("coder cannot work in a folder whose name is not UTF-8"))
    return folder


def folder_of(given: str | None) -> str:
    """The real path of the folder. Exits with 2 if no folder is named and the current one was removed."""
    try:
        return resolved(given or "")
    except OSError:
        parser().error(folder_gone_message())


def _piped_input() -> bytes:
    """Read what was piped or redirected to standard input, up to its end; nothing from a terminal or /dev/null. If
    nothing arrives for a while, a line on stderr says that coder waits for input, because it cannot know whether the
    other program is only slow."""
    try:
        kind = os.fstat(0).st_mode
    except OSError:
        return b""
    if not (stat.S_ISFIFO(kind) or stat.S_ISREG(kind) or stat.S_ISSOCK(kind)):
        return b""

    if not select.select([0], [], [], _PATIENCE_SECONDS)[0]:
        told = t("reading standard input; if there is none, start coder with </dev/null")
        sys.stderr.write(f"coder: {told}\n")
        sys.stderr.flush()
    return sys.stdin.buffer.read()


def decoded(text: bytes) -> str:
    """Text in UTF-8, or else in the encoding of the locale; what is neither is replaced."""
    try:
        return text.decode("utf-8")
    except UnicodeDecodeError:
        return text.decode(sys.getfilesystemencoding(), "replace")


def _is_text(name: str) -> bool:
    return name == os.fsencode(name).decode("utf-8", "replace")


def _mode(text: str) -> str:
    """The name of a mode, also for Claude Code's name of it."""
    return next((each.name for each in MODES if text == each.external_name), text)


def _positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(t("must be at least 1"))
    return number
