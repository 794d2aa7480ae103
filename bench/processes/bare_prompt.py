"""The least a prompt can be: prompt_toolkit and nothing else. Says back what it is told, until Ctrl-D."""

import sys
from contextlib import suppress

from prompt_toolkit import PromptSession


def main() -> None:
    session: PromptSession[str] = PromptSession("❯ ", multiline=False)
    with suppress(EOFError):
        while True:
            sys.stdout.write(f"{session.prompt()}\n")


if __name__ == "__main__":
    main()
