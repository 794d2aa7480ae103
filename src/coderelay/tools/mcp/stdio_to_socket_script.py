"""Script that connects standard input and output to our socket and then becomes the MCP server.

It is run as a script, never imported. A command of our supervisor has no input, and one output for everything; so
this script connects the server before it starts: `stdio_to_socket_script.py SOCKET PROGRAM ARGUMENT…`. Standard error
remains the output of the command.
"""

import os
import sys
from _socket import AF_UNIX, socket  # the module `socket` would take 5 ms more


def main(where: str, argv: list[str]) -> None:
    line = socket(AF_UNIX)
    line.connect(where)
    os.dup2(line.fileno(), 0)
    os.dup2(line.fileno(), 1)
    line.close()
    try:
        os.execvp(argv[0], argv)
    except OSError as error:
        sys.stderr.write(f"{argv[0]}: {error.strerror}\n")
        sys.exit(127)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
