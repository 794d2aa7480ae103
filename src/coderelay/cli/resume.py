"""`coder resume [ID]`: reopen a session (without ID, the newest one in this folder) and continue interrupted work."""

from coderelay.cli import start
from coderelay.cli.startup.arguments import Arguments
from coderelay.client.language import t


def main(arguments: list[str]) -> int:
    parser = Arguments(prog="coder resume", description=t(__doc__ or ""), allow_abbrev=False)
    parser.add_argument(
        "session", nargs="?", metavar="ID", help=t("the id of the session, or the beginning of its id or title")
    )
    parser.add_argument("--here", action="store_true", help=t("move the session from another machine to this one"))
    parser.add_argument("--last", action="store_true", help=t("the newest session in this folder, as without an ID"))
    options = parser.parse_args(arguments)
    if options.here and options.session is None:
        parser.error(t("--here needs a session ID"))
    if options.last and options.session is not None:
        parser.error(t("give an ID or --last, not both"))
    meant = ["--continue"] if options.session is None else [f"--resume={options.session}"]
    meant += ["--here"] if options.here else []
    return start.run(start.parse(meant)[0], start.folder_of(None), None)
