"""The command `coder`: one file per subcommand, imported only when it is called."""

import gc
import os
import sys

from coderelay import __version__
from coderelay.surfaces import nonblocking_standard_streams


def run() -> None:
    """The entry point of the installed `coder`. Exits without tearing down the interpreter, which takes as long as a
    short turn; everything that must be closed has been closed by then."""
    nonblocking_standard_streams.install()
    try:
        code = main()
    except SystemExit as left:  # argparse has printed the error, the help or the version
        code = left.code if isinstance(left.code, int) else int(left.code is not None)
    except BrokenPipeError:
        code = 0  # `finish` turns it into an exit code
    except KeyboardInterrupt:
        nonblocking_standard_streams.stop_waiting_for_readers()
        code = 130
    except Exception as error:  # noqa: BLE001  # printed as Python does it, but `finish` waits until all is written
        sys.excepthook(type(error), error, error.__traceback__)
        code = 1
    os._exit(nonblocking_standard_streams.finish(code))


def main() -> int:
    """Run a subcommand. Only its file is imported; each one parses its own arguments."""
    arguments = sys.argv[1:]
    if arguments in (["--version"], ["-V"]):
        sys.stdout.write(f"coder {__version__}\n")
        return 0
    from coderelay.cli.startup.event_loop_and_ctrl_c import exit_on_ctrl_c  # not needed for --version
    from coderelay.client.i18n import speak
    from coderelay.protocol.translation_files import locale_language

    exit_on_ctrl_c()
    speak(os.environ.get("CODER_LANG") or locale_language(os.environ))  # until the settings are known
    gc.disable()  # objects made while loading are no garbage; `enable_garbage_collection` turns it on again
    from coderelay.cli.startup.localized_argument_parser import SUBCOMMANDS

    name, *rest = arguments or [""]
    match name if name in SUBCOMMANDS else "start":
        case "web":
            from coderelay.cli.web import main as run_command
        case "app":
            from coderelay.cli.app import main as run_command
        case "feishu":
            from coderelay.cli.feishu import main as run_command
        case "acp":
            from coderelay.cli.acp import main as run_command
        case "sessions":
            from coderelay.cli.sessions import main as run_command
        case "resume":
            from coderelay.cli.resume import main as run_command
        case "asks":
            from coderelay.cli.asks import main as run_command
        case "answer":
            from coderelay.cli.answer import main as run_command
        case "permissions":
            from coderelay.cli.permissions import main as run_command
        case "mcp":
            from coderelay.cli.mcp import main as run_command
        case "model":
            from coderelay.cli.model import main as run_command
        case "doctor":
            from coderelay.cli.doctor import main as run_command
        case "completions":
            from coderelay.cli.completions import main as run_command
        case _:
            rest = arguments
            from coderelay.cli.default_command import main as run_command
    return run_command(rest)
