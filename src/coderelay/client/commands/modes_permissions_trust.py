"""`/mode` and a command for each mode, `/permissions` and `/trust`: what the agent may do."""

from itertools import groupby
from typing import get_args

from coderelay.client.client import Client
from coderelay.client.commands.slash_command import MODEL, Context, SlashCommand
from coderelay.client.i18n import retell, t
from coderelay.client.permission_ask_text import approval_in_words, sandbox_in_words
from coderelay.protocol.bilingual_text import Localized
from coderelay.protocol.commands import ConfigureSession, TrustFolder
from coderelay.protocol.errors import BadInput, CannotRun
from coderelay.protocol.ids import SessionId
from coderelay.protocol.modes import MODE_NAMES, MODES, ModeSpec, mode_called
from coderelay.protocol.queries import ShowPermissions, ShowSession, ShowTrust
from coderelay.protocol.query_results import PermissionsShown, TrustShown, UntrustedText
from coderelay.protocol.session_setting_values import Preset, Profile
from coderelay.protocol.text_escaping_and_width import padded, width_of


async def mode(here: Context, name: str) -> str:
    if not name:
        return t("mode: {mode}", mode=(await here.client.get(ShowSession(here.session))).mode)
    wanted = mode_called(name)
    if wanted is None:
        names = ", ".join(MODE_NAMES)
        raise BadInput(t("unknown mode {name}; choose one of {names}", name=repr(name), names=names))
    await here.client.send(ConfigureSession(session=here.session, mode=wanted, by=here.by))
    return t("mode: {mode}", mode=wanted)


_CHANGES_MODE = Localized(
    "Takes effect at the next tool call, even in a running turn; applies to this session only.",
    "从下一次工具调用起生效，正在运行的回合也一样；仅限本会话。",
)


def _short_form(spec: ModeSpec) -> SlashCommand:
    async def run(here: Context, _: str) -> str:
        return await mode(here, spec.name)

    return SlashCommand(name=spec.name, group=MODEL, text=spec.text, run=run, detail=_CHANGES_MODE)


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


_CODE_LENGTH = 6


async def trust(here: Context, code: str) -> str:
    """The short code only names what was shown. The whole digest of it is compared, because an agent could construct
    files that have the same short code."""
    shown = await here.client.get(ShowTrust(here.session))
    seen = here.numbered.get("trust", [])
    if not code:
        return _review(here, shown)
    if seen != [shown.digest]:
        told = t("this has changed since it was shown, or was not shown yet; nothing was trusted")
        return f"{told}\n\n{_review(here, shown)}"
    if code != _code(shown):
        return t("{code} is not the code; nothing was trusted. /trust shows the code", code=code)
    await here.client.send(TrustFolder(session=here.session, digest=shown.digest, by=here.by))
    return t("trusted {folder}", folder=shown.folder)


def _review(here: Context, shown: TrustShown) -> str:
    here.numbered["trust"] = [shown.digest]
    if not shown.settings and not shown.texts:
        return t(
            "nothing to trust: {folder} has no settings, commands, skills or agents that are not in use already",
            folder=shown.folder,
        )
    how = t(
        "If you trust it, its commands and rules apply like your own. To trust exactly this: /trust {code}",
        code=_code(shown),
    )
    return f"{_in_full(shown)}\n\n{how}"


def _code(shown: TrustShown) -> str:
    return shown.digest[:_CODE_LENGTH]


def _in_full(shown: TrustShown) -> str:
    """Everything that would be trusted: settings by file, then the text of each file."""
    by_file = groupby(shown.settings, lambda each: each.file)
    settings = [
        "\n".join([t("{file} sets:", file=file), *(f"  {each.key} = {each.value}" for each in group)])
        for file, group in by_file
    ]
    return "\n\n".join([*settings, *map(_whole, shown.texts)])


def _whole(text: UntrustedText) -> str:
    what = t("changed") if text.changed else t("new")
    lines = text.text.rstrip().splitlines() or [t("(empty)")]
    return "\n".join([f"{text.path}  ({what})", *(f"  │ {line}".rstrip() for line in lines)])


COMMANDS = (
    SlashCommand(
        name="mode",
        group=MODEL,
        text=Localized("show or change the permission mode", "查看或切换权限模式"),
        run=mode,
        choices=MODE_NAMES,
        detail=_CHANGES_MODE,
        example="/mode plan",
    ),
    *map(_short_form, MODES),
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
    SlashCommand(
        name="trust",
        group=MODEL,
        text=Localized(
            "review this folder's settings, MCP servers, commands, skills and agents, and trust them",
            "查看本目录的设置、MCP 服务器、命令、技能和 agent，并信任它们",
        ),
        run=trust,
        hint="[CODE]",
        detail=Localized(
            "Without CODE, it shows everything that would be trusted, and the code for it. With the code, exactly "
            "what was shown is trusted. `coder permissions untrust` takes it back.",
            "不带 CODE 时显示将被信任的全部内容及其代码；带上代码则信任所显示的内容。"
            "用 `coder permissions untrust` 撤销。",
        ),
        example="/trust 3f9a1c",
    ),
)


_CELLS = {"allow": "allow", "sandboxed": "allow in the sandbox, else ask", "ask": "ask", "deny": "deny"}


async def permissions_here(client: Client, session: SessionId) -> PermissionsShown | None:
    """The permissions of a session. None if it belongs to another machine, whose configuration nobody here knows."""
    try:
        return await client.get(ShowPermissions(session))
    except CannotRun:
        return None


async def sandbox_of(client: Client, session: SessionId) -> str:
    """What the commands of a session run in, in one or two words."""
    shown = await permissions_here(client, session)
    return t("unknown") if shown is None else sandbox_in_words(shown)


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
            "skills: calls need no approval while a skill that the agent chose is in use (skills.auto_approve: run)"
        )
        lines.append(told)
    lines.append(t("sandbox: {sandbox}", sandbox=sandbox_in_words(shown)) + unconfined_note(shown))
    return "\n".join(lines)


def profile_in_words(profile: Profile) -> str:
    told = t("tools run without asking: the list of allowed tools and ask rules have no effect, deny rules do")
    return f"{profile} ({told})"


def _note(shown: PermissionsShown) -> str:
    return "" if shown.mode == "default" else t(" (applies in default mode, not in {mode} mode)", mode=shown.mode)


def unconfined_note(shown: PermissionsShown) -> str:
    """What it means for the person that commands do not run in the sandbox that there is."""
    is_off = not shown.confined and shown.sandbox not in ("", "none")
    return t(" ({mode} mode: commands run without a sandbox)", mode=shown.mode) if is_off else ""
