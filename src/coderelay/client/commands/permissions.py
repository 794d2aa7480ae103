"""`/permissions`: what is allowed, and the preset of mode default."""

from typing import get_args

from coderelay.client.commands.slash_command import MODEL, Context, SlashCommand
from coderelay.client.i18n import retell, t
from coderelay.client.permission_ask_text import approval_in_words, sandbox_in_words
from coderelay.protocol.bilingual_text import Localized
from coderelay.protocol.commands import ConfigureSession
from coderelay.protocol.display_text import padded, width_of
from coderelay.protocol.errors import BadInput
from coderelay.protocol.queries import ShowPermissions
from coderelay.protocol.query_results import PermissionsShown
from coderelay.protocol.session_setting_values import Preset, Profile

_PRESETS: dict[str, Preset] = {each: each for each in get_args(Preset)}
_NO_PROFILE = "no-profile"


async def permissions(here: Context, name: str) -> str:
    if name == _NO_PROFILE:
        await here.client.send(ConfigureSession(session=here.session, profile="", by=here.by))
    elif name:
        preset = _PRESETS.get(name)
        if preset is None:
            names = ", ".join((*_PRESETS, _NO_PROFILE))
            raise BadInput(t("unknown preset {name}; choose one of {names}", name=repr(name), names=names))
        await here.client.send(ConfigureSession(session=here.session, preset=preset, by=here.by))
    return permissions_in_words(await here.client.get(ShowPermissions(here.session)))


COMMANDS = (
    SlashCommand(
        name="permissions",
        group=MODEL,
        text=Localized(
            "show what is allowed, asked or denied, or change the preset of default mode",
            "展示当前权限矩阵，或切换权限预设",
        ),
        run=permissions,
        choices=(*_PRESETS, _NO_PROFILE),
        detail=Localized(
            "A preset applies to this session only; your own rules stay in force. `no-profile` takes a session out "
            "of the profile it was created with (cowork); it cannot go back.",
            "预设仅在本会话中生效；你自己的规则不变。`no-profile` 使会话退出创建时的配置档（cowork），且不能恢复。",
        ),
        example="/permissions strict",
    ),
)


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
