"""What needs no asking in a session, as text: the table in force, the rules, what was approved, the sandbox."""

from coderelay.client.permission_asks import approval_in_words
from coderelay.protocol.permissions import PermissionsShown

_CELLS = {"allow": "allow", "sandboxed": "allow in the sandbox, else ask", "ask": "ask", "deny": "deny"}


def permissions_in_words(shown: PermissionsShown) -> str:
    width = max(len(what) for what, _ in shown.matrix)
    lines = [f"mode: {shown.mode}", f"preset: {shown.preset}{_note(shown)}"]
    lines += [f"  {what.ljust(width)}  {_CELLS[cell]}" for what, cell in shown.matrix]
    if shown.allowed_tools:
        lines.append(f"tools: {', '.join(shown.allowed_tools)}")
    lines += ["rules:", *(f"  {verdict.ljust(5)}  {text}" for verdict, text in shown.rules)] if shown.rules else []
    if shown.approvals:
        lines += ["approved:", *(f"  {each.id}  {approval_in_words(each)}" for each in shown.approvals)]
    if shown.skills_run:
        lines.append("skills: while one is in use that the agent chose, nobody is asked (skills.auto_approve is run)")
    lines.append(f"sandbox: {shown.sandbox or 'not known'}{_without(shown)}")
    return "\n".join(lines)


def _note(shown: PermissionsShown) -> str:
    return "" if shown.mode == "default" else f" (counts in mode default, not in {shown.mode})"


def _without(shown: PermissionsShown) -> str:
    """What is shown of the sandbox is what there is; mode yolo does not use it."""
    return ", not used in mode yolo" if shown.mode == "yolo" and shown.sandbox not in ("", "none") else ""
