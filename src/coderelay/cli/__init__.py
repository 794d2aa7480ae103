"""The command `coder`: one file per subcommand, imported only when it is called."""

import gc
import os
import sys

from coderelay import __version__
from coderelay.surfaces import standard_streams

SUBCOMMANDS = ("sessions", "resume", "asks", "answer", "permissions", "mcp", "model", "doctor", "completions")


def run() -> None:
    """`coder` as it is installed. Leaves without taking the interpreter apart, which takes as long as a
    short turn; everything that must be closed has been by then."""
    standard_streams.install()
    try:
        code = main()
    except SystemExit as left:  # argparse has said what is wrong, or what was asked for
        code = left.code if isinstance(left.code, int) else int(left.code is not None)
    except BrokenPipeError:
        code = 0  # `finish` finds out
    except KeyboardInterrupt:
        standard_streams.hurry()
        code = 130
    except Exception as error:  # noqa: BLE001  # shown as Python does it, but `finish` waits until all of it is written
        sys.excepthook(type(error), error, error.__traceback__)
        code = 1
    os._exit(standard_streams.finish(code))


def main() -> int:
    """Find the subcommand without importing any; each parses its own arguments."""
    arguments = sys.argv[1:]
    if arguments in (["--version"], ["-V"]):
        sys.stdout.write(f"coder {__version__}\n")
        return 0
    name = arguments[0] if arguments and arguments[0] in SUBCOMMANDS else "start"
    from importlib import import_module  # --version has no need of these

    from coderelay.cli.interrupts import leave_at_once
    from coderelay.client.language import speak
    from coderelay.config.locale import is_chinese

    leave_at_once()
    speak(os.environ.get("CODER_LANG") or ("zh" if is_chinese(os.environ) else "en"))  # until the settings are known
    gc.disable()  # nothing that is made while loading is garbage
    command = import_module(f"coderelay.cli.{name}")
    return command.main(arguments[1:] if name != "start" else arguments)
