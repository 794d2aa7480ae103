"""`coder permissions`: what need not be asked again, and taking it back."""

import argparse
import sys

from coderelay.cli.house import me, run_with_house
from coderelay.host.host import Host
from coderelay.protocol.commands import RevokeApproval
from coderelay.protocol.errors import UnknownApproval
from coderelay.protocol.ids import APPROVALS, SessionId
from coderelay.protocol.queries import ListApprovals


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="coder permissions", description=__doc__, allow_abbrev=False)
    parser.add_argument("--session", metavar="ID", help="those given in one session too")
    actions = parser.add_subparsers(dest="action", metavar="list|revoke")
    actions.add_parser("list", help="what was approved for a folder or for good")
    actions.add_parser("revoke", help="ask again").add_argument("approval", metavar="ID")
    options = parser.parse_args(arguments)
    session = SessionId(options.session) if options.session else None

    async def work(host: Host) -> int:
        approvals = await host.get(ListApprovals(session))
        if options.action != "revoke":
            for each in approvals:
                where = each.project or ("everywhere" if each.scope == "person" else "this session")
                sys.stdout.write(f"{each.id}  {each.tool}: {each.title}  ({where})\n")
            return 0
        found = [each for each in approvals if each.id.startswith(options.approval)]
        if len(found) != 1:
            raise UnknownApproval(options.approval)
        given_in = session if session is not None and found[0].scope == "session" else APPROVALS
        await host.send(RevokeApproval(session=given_in, approval=found[0].id, by=me()))
        sys.stdout.write(f"revoked {found[0].tool}: {found[0].title}\n")
        return 0

    return run_with_house(work)
