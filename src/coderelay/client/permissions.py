"""What needs no asking in a session, as text: the table in force, the rules, what was approved, the sandbox."""

from coderelay.client.language import retell, t
from coderelay.client.permission_asks import approval_in_words
from coderelay.client.text_width import padded, width_of
from coderelay.protocol.permissions import PermissionsShown

_CELLS = {"allow": "allow", "sandboxed": "allow in the sandbox, else ask", "ask": "ask", "deny": "deny"}


def permissions_in_words(shown: PermissionsShown) -> str:
    rows = [(retell(what), t(_CELLS[cell])) for what, cell in shown.matrix]
    width = max(width_of(what) for what, _ in rows)
    lines = [t("mode: {mode}", mode=shown.mode), t("preset: {preset}", preset=shown.preset) + _note(shown)]
    lines += [f"  {padded(what, width)}  {cell}" for what, cell in rows]
    if shown.allowed_tools:
        lines.append(t("tools: {tools}", tools=", ".join(shown.allowed_tools)))
    lines += [t("rules:"), *(f"  {verdict.ljust(5)}  {text}" for verdict, text in shown.rules)] if shown.rules else []
    if shown.approvals:
        lines += [t("approved:"), *(f"  {each.id}  {approval_in_words(each)}" for each in shown.approvals)]
    if shown.skills_run:
        told = t("skills: while one is in use that the agent chose, nobody is asked (skills.auto_approve is run)")
        lines.append(told)
    lines.append(t("sandbox: {sandbox}", sandbox=shown.sandbox or t("not known")) + _without(shown))
    return "\n".join(lines)


def _note(shown: PermissionsShown) -> str:
    return "" if shown.mode == "default" else t(" (counts in mode default, not in {mode})", mode=shown.mode)


def _without(shown: PermissionsShown) -> str:
    """What is shown of the sandbox is what there is; mode yolo does not use it."""
    return t(", not used in mode yolo") if shown.mode == "yolo" and shown.sandbox not in ("", "none") else ""
