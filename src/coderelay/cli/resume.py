"""`coder resume ID`: open a session again and carry on what was cut off."""

import os

from coderelay.cli import start
from coderelay.cli.arguments import Arguments
from coderelay.client.language import t


def main(arguments: list[str]) -> int:
    parser = Arguments(prog="coder resume", description=t(__doc__ or ""), allow_abbrev=False)
    parser.add_argument("session", metavar="ID")
    session = parser.parse_args(arguments).session
    return start.run(start.parser().parse_args(["--resume", session]), os.getcwd(), None)
