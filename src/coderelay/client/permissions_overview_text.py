"""What is allowed, asked or denied in a session, as text for people."""

from coderelay.client.i18n import retell, t
from coderelay.client.permission_ask_text import approval_in_words, sandbox_in_words
from coderelay.client.text_width import padded, width_of
from coderelay.protocol.query_results import PermissionsShown
from coderelay.protocol.session_setting_values import Profile

_CELLS = {"allow": "allow", "sandboxed": "allow in the sandbox, else ask", "ask": "ask", "deny": "deny"}


def permissions_in_words(shown: PermissionsShown) -> str:
    rows = [(retell(what), t(_CELLS[cell])) for what, cell in shown.matrix]
    width = max(width_of(what) for what, _ in rows)
    lines = [t("mode: {mode}", mode=shown.mode), t("preset: {preset}", preset=shown.preset) + _note(shown)]
    lines += [f"  {padded(what, width)}  {cell}" for what, cell in rows]
    if shown.profile:
        lines.insert(1, t("profile: {profile}", profile=profile_in_words(shown.profile)))
    if shown.allowed_tools:
        lines.append(t("tools: {tools}", tools=", ".join(shown.allowed_tools)))
    lines += [t("rules:"), *(f"  {verdict.ljust(5)}  {text}" for verdict, text in shown.rules)] if shown.rules else []
    if shown.approvals:
        lines += [t("approved:"), *(f"  {each.id}  {approval_in_words(each)}" for each in shown.approvals)]
    if shown.skills_run:
        told = t(
            "skills: no approval needed while a skill chosen by the agent is in use (skills.auto_approve is run)"
        )
        lines.append(told)
    lines.append(t("sandbox: {sandbox}", sandbox=sandbox_in_words(shown)) + unconfined_note(shown))
    return "\n".join(lines)


def profile_in_words(profile: Profile) -> str:
    told = t("tools run without asking; allowed tools and ask rules are not enforced, denials are")
    return f"{profile} ({told})"


def _note(shown: PermissionsShown) -> str:
    return "" if shown.mode == "default" else t(" (applies in default mode, not in {mode} mode)", mode=shown.mode)


def unconfined_note(shown: PermissionsShown) -> str:
    """What it means for the person that commands do not run in the sandbox that there is."""
    is_off = not shown.confined and shown.sandbox not in ("", "none")
    return t(" ({mode} mode: commands run without a sandbox)", mode=shown.mode) if is_off else ""
