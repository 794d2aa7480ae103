"""`coder resume [ID] [PROMPT]`: reopen a session (without ID, the newest in this folder) and continue its work."""

import os

from coderelay.cli import default_command
from coderelay.cli.startup.localized_argument_parser import LocalizedArgumentParser
from coderelay.client.i18n import t


def main(arguments: list[str]) -> int:
    parser = LocalizedArgumentParser(prog="coder resume", description=t(__doc__ or ""), allow_abbrev=False)
    parser.add_argument(
        "session", nargs="?", metavar="ID", help=t("the id of the session, or the beginning of its id or title")
    )
    parser.add_argument("next", nargs="?", metavar="PROMPT", help=t("the prompt to continue with"))
    parser.add_argument("--here", action="store_true", help=t("move the session from another machine to this one"))
    parser.add_argument(
        "--last",
        action="store_true",
        help=t("the newest session in this folder (also meant if there is no ID); PROMPT may follow"),
    )
    default_command.add_session_options(parser)
    given = parser.parse_args(arguments)
    if given.last:
        if given.next is not None:
            parser.error(t("give an ID or --last, not both"))
        given.session, given.next = None, given.session
    if given.here and given.session is None:
        parser.error(t("--here needs a session ID"))
    options = default_command.parse(["--continue"] if given.session is None else [f"--resume={given.session}"])[0]
    for name in vars(options).keys() & vars(given).keys():
        setattr(options, name, getattr(given, name))
    options.first_prompt = default_command.decoded(os.fsencode(given.next or ""))
    return default_command.run(options, default_command.checked_folder(options), None)
