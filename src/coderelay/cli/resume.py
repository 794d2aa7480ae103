"""`coder resume [ID]`: reopen a session (without ID, the newest one in this folder) and continue interrupted work."""

from coderelay.cli import start
from coderelay.cli.startup.arguments import Arguments
from coderelay.client.language import t


def main(arguments: list[str]) -> int:
    parser = Arguments(prog="coder resume", description=t(__doc__ or ""), allow_abbrev=False)
    parser.add_argument(
        "session", nargs="?", metavar="ID", help=t("the id of the session, or the beginning of its id or title")
    )
    session = parser.parse_args(arguments).session
    meant = ["--continue"] if session is None else [f"--resume={session}"]
    return start.run(start.parser().parse_args(meant), start.folder_of(None), None)
