"""`coder resume [ID]`: open a session again, without ID the newest here, and carry on what was cut off."""

from coderelay.cli import start
from coderelay.cli.startup.arguments import Arguments
from coderelay.client.language import t


def main(arguments: list[str]) -> int:
    parser = Arguments(prog="coder resume", description=t(__doc__ or ""), allow_abbrev=False)
    parser.add_argument("session", nargs="?", metavar="ID", help=t("or the beginning of its id or title"))
    session = parser.parse_args(arguments).session
    meant = ["--continue"] if session is None else [f"--resume={session}"]
    return start.run(start.parser().parse_args(meant), start.folder_of(None), None)
