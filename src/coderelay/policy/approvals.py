"""What was approved for more than one call, and what that covers."""

from collections.abc import Iterable

from coderelay.protocol.asks import Approval, PermissionAsk, Scope
from coderelay.protocol.calls import Need


def approval_of(ask: PermissionAsk, scope: Scope, cwd: str) -> Approval:
    need = ask.need
    return Approval(
        id=ask.id,
        scope=scope,
        tool=need.tool,
        title=need.title,
        project=cwd if scope == "project" else None,
        command=need.command,
        paths=need.paths,
    )


def in_force(approvals: Iterable[Approval], cwd: str) -> tuple[Approval, ...]:
    """Those that count in this folder."""
    return tuple(each for each in approvals if each.project is None or each.project == cwd)


def covers(approval: Approval, need: Need) -> bool:
    """Exactly the same command, or the same tool on exactly the same paths."""
    if approval.tool != need.tool:
        return False
    if approval.command is not None or need.command is not None:
        return approval.command == need.command
    if approval.paths or need.paths:
        return approval.paths == need.paths
    return approval.title == need.title
