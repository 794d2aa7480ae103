"""`coder asks`: list everything that waits for your answer, in all sessions."""

import sys

import msgspec

from coderelay.cli.startup.localized_argument_parser import LocalizedArgumentParser
from coderelay.cli.startup.open_app import run_with_app
from coderelay.client.ask_view import headline
from coderelay.client.i18n import t
from coderelay.host.host import Host
from coderelay.protocol.queries import ListAsks
from coderelay.protocol.text_escaping_and_width import display_path, visible
from coderelay.protocol.translatable import encode_plain
from coderelay.surfaces.nonblocking_standard_streams import write_json


def main(arguments: list[str]) -> int:
    parser = LocalizedArgumentParser(prog="coder asks", description=t(__doc__ or ""), allow_abbrev=False)
    parser.add_argument("--json", action="store_true", help=t("print one JSON object per line"))
    options = parser.parse_args(arguments)

    async def show(host: Host) -> int:
        rows = await host.get(ListAsks())
        if not rows and not options.json:
            sys.stderr.write(t("nothing is waiting for your answer") + "\n")
        for each in rows:
            if options.json:
                write_json(sys.stdout, msgspec.json.encode(each, enc_hook=encode_plain).decode())
            else:
                title = (
                    t("{title}, for {parent}", title=each.title, parent=each.parent_title)
                    if each.parent
                    else each.title
                )
                where = " ".join(f"{title}, {display_path(each.cwd)}".splitlines())
                sys.stdout.write(f"{each.ask.id}  {headline(each.ask)}  ({visible(where)})\n")
        return 0

    return run_with_app(show)
