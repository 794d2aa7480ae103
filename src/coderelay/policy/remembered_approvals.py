"""Remembered approvals: how one is made from an answer, when it counts, and which later calls it covers."""

from collections.abc import Iterable

from coderelay.policy.shell.requested_rights import rights_of
from coderelay.protocol.asks import Approval, PermissionAsk, Scope
from coderelay.protocol.calls import Need, Right
from coderelay.protocol.ids import MachineId

SANDBOXES = ("bubblewrap", "sandlock")
"""The values of `Need.sandbox` that mean a sandbox; any other value means none."""

LASTS_DAYS = 30
"""How many days an approval counts that outlives its session."""

ANY_MACHINE = MachineId("")
_DAY_MS = 86_400_000


def approval_of(
    ask: PermissionAsk,
    scope: Scope,
    cwd: str,
    now: int | None = None,
    *,
    person: str = "",
    machine: MachineId = ANY_MACHINE,
) -> Approval:
    """The approval that an answer of `person` to this ask gives, for a folder on `machine`. `now` is in milliseconds
    since 1970; without it, the approval does not expire."""
    need = ask.need
    lasts = scope in ("project", "person") and now is not None
    return Approval(
        id=ask.id,
        scope=scope,
        tool=need.tool,
        title=need.title,
        project=cwd if scope == "project" else None,
        command=need.command,
        paths=need.paths,
        words=need.words,
        prefix=need.prefix,
        rights=rights_wanted(need),
        server=need.server,
        sandbox=need.sandbox,
        scripts=need.scripts,
        person=person,
        machine=machine if scope == "project" else ANY_MACHINE,
        edits=need.kind == "edit" and len(need.paths) == 1 and not need.server,
        expires=now + LASTS_DAYS * _DAY_MS if lasts and now is not None else None,
    )


def in_force(
    approvals: Iterable[Approval],
    cwd: str,
    now: int | None = None,
    *,
    people: Iterable[str] = (),
    machine: MachineId = ANY_MACHINE,
) -> tuple[Approval, ...]:
    """The approvals that count in this folder of this machine, for all these people, and have not expired. If two
    people sent prompts to the turn, the personal approvals of neither count."""
    everybody = set(people)
    return tuple(
        each
        for each in approvals
        if (each.project is None or (each.project == cwd and each.machine in (ANY_MACHINE, machine)))
        and (each.scope != "person" or not each.person or everybody <= {each.person})
        and (each.expires is None or now is None or each.expires > now)
    )


def rights_wanted(need: Need) -> tuple[Right, ...]:
    """The rights that a call wants beyond the sandbox: those it declares and those its command text asks for."""
    if need.command is None:
        return need.rights
    return tuple(sorted({*need.rights, *rights_of(need.command)}))


def covers(approval: Approval, need: Need, folders: tuple[str, ...] = ()) -> bool:
    """Whether an approval covers this call: exactly the same command, a command with the same remembered words that
    wants no rights, any edit to the same file, the same tool on exactly the same paths, or the same tool of the same
    MCP server."""
    is_edit = approval.edits and need.kind == "edit"
    if (approval.tool != need.tool and not is_edit) or approval.server != need.server:
        return False
    if approval.server:
        return True
    if approval.command is not None or need.command is not None:
        return _covers_command(approval, need, folders)
    if approval.paths or need.paths:
        return approval.paths == need.paths and set(need.scripts) <= set(approval.scripts)
    return approval.title == need.title


def _covers_command(approval: Approval, need: Need, folders: tuple[str, ...]) -> bool:
    rights = rights_wanted(need)
    if approval.command is None or need.command is None or not set(rights) <= set(approval.rights):
        return False
    confined = approval.sandbox in SANDBOXES and "outside" not in approval.rights
    if confined and need.sandbox not in SANDBOXES:
        return False
    if approval.command == need.command:
        return True
    if not approval.words or rights or approval.rights:
        return False  # a right was given only to the exact text that a person saw
    from coderelay.policy.shell.approval_signatures import (  # with the first approved command
        Signature,
        covers_command,
    )

    return covers_command(Signature(approval.words, approval.prefix), need.command, folders)
