"""`coder asks`: everything that waits for a person, in all sessions."""

import argparse
import sys

import msgspec

from coderelay.cli.house import run_with_house
from coderelay.client.asking import headline
from coderelay.host.host import Host
from coderelay.protocol.queries import ListAsks


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="coder asks", description=__doc__, allow_abbrev=False)
    parser.add_argument("--json", action="store_true", help="one object per line")
    options = parser.parse_args(arguments)

    async def show(host: Host) -> int:
        for each in await host.get(ListAsks()):
            if options.json:
                sys.stdout.write(msgspec.json.encode(each).decode() + "\n")
            else:
                title = f"{each.title}, for {each.parent_title}" if each.parent else each.title
                sys.stdout.write(f"{each.ask.id}  {headline(each.ask)}  ({title}, {each.cwd})\n")
        return 0

    return run_with_house(show)
