"""`coder resume ID`: open a session again and carry on what was cut off."""

import argparse
import os

from coderelay.cli.start import parser as start_parser


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="coder resume", description=__doc__, allow_abbrev=False)
    parser.add_argument("session", metavar="ID")
    session = parser.parse_args(arguments).session

    from coderelay.cli.turn import run

    return run(start_parser().parse_args(["--resume", session]), os.getcwd(), None)
