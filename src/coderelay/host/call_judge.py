"""Judges a session's calls by the current policy: when they are proposed, and again before they start."""

import asyncio
import os
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from coderelay.client.builtin_tool_specs_loader import tool_specs
from coderelay.host.ask_about_call import ask_about
from coderelay.host.folder_config import FolderConfig, FolderConfigs
from coderelay.host.loaded_session_cache import LoadedSessionCache
from coderelay.policy.judge import Policy, Verdict, judge
from coderelay.policy.preset_tables import Permission, matrix_in_words, table_of
from coderelay.policy.remembered_approvals import ANY_MACHINE, SANDBOXES, in_force
from coderelay.policy.shell.disk_fact_types import NO_FACTS, DiskFacts
from coderelay.protocol.asks import Allow, Approval, EditMode, PermissionAsk
from coderelay.protocol.calls import Call, Denied, Need
from coderelay.protocol.errors import BadInput
from coderelay.protocol.events import Judged
from coderelay.protocol.ids import new_ask_id
from coderelay.protocol.modes import mode_spec
from coderelay.protocol.query_results import PermissionsShown
from coderelay.protocol.session_setting_values import Mode, Profile
from coderelay.protocol.translatable import say
from coderelay.protocol.wall_clock import now
from coderelay.session.state import CallState, SessionSettings, State
from coderelay.session.unfinished_call_outcomes import Rejudge, outcome_without_running
from coderelay.workspace.files.path_resolution import is_in, real_path

if TYPE_CHECKING:
    from coderelay.host.shell_command_disk_facts import DiskLookup


class CallJudge:
    """Applies the policy of a session's folder, with the approvals in force, to the session's calls."""

    def __init__(self, sessions: LoadedSessionCache, folders: FolderConfigs) -> None:
        self._sessions = sessions
        self._folders = folders

    async def judge(self, state: State, calls: Sequence[Call], needs: Sequence[Need]) -> tuple[Judged, ...]:
        """Judge the calls of one message, all together. The needs must be in the form that is stored and shown,
        because the reasons quote them."""
        if not needs:
            return ()
        facts = await self._facts(state, needs)
        verdicts = self._verdicts(state, needs, (), facts)
        if any(each.verdict == "ask" for each in verdicts):
            verdicts = self._verdicts(state, needs, await self._sessions.approvals(), facts)
        judged = zip(calls, needs, verdicts, strict=True)
        return tuple(
            _judged(state, call, need, each, self._mode_for(state, need, each)) for call, need, each in judged
        )

    async def now_allowed(
        self,
        state: State,
        asks: Sequence[PermissionAsk],
        granted: Approval | None,
        before: Mode,
        mode: Mode | None,
    ) -> list[PermissionAsk]:
        """The asks that only the policy caused and would not cause now, because something was approved meanwhile or
        is `granted` now, or because the mode changed. Asks that a hook wanted stay open."""
        needs = [self._need(state, state.calls[each.call_id], each.need) for each in asks]
        approvals = [*await self._sessions.approvals(), *([] if granted is None else [granted])]
        try:
            facts = await self._facts(state, needs)
            unapproved = self._verdicts(_in_mode(replace(state, approvals={}), before), needs, (), facts)
            verdicts = self._verdicts(_in_mode(state, mode), needs, approvals, facts)
        except BadInput:
            return []  # a wrong configuration loosens nothing
        both = zip(asks, unapproved, verdicts, strict=True)
        return [
            ask
            for ask, then, today in both
            if ask.cause == "policy" and then.verdict == "ask" and today.verdict == "allow"
        ]

    def _mode_for(self, state: State, need: Need, verdict: Verdict) -> EditMode | None:
        """The mode in which the policy would not ask about this change of files."""
        if verdict.verdict != "ask" or need.kind != "edit":
            return None
        (then,) = self._verdicts(_in_mode(state, "auto-edit"), [need], (), [NO_FACTS])
        return "auto-edit" if then.verdict == "allow" else None

    async def rejudge(self, state: State) -> Rejudge:
        """The check of calls that were judged earlier, against the policy of today."""
        waiting = [
            each
            for each in state.open_calls()
            if each.started_epoch is None and outcome_without_running(each) is None
        ]
        beyond: Sequence[Approval] = ()
        known: dict[str, DiskFacts] = {}
        try:
            needs = [self._need(state, each) for each in waiting]
            facts = await self._facts(state, needs)
            known = {
                need.command: found
                for need, found in zip(needs, facts, strict=True)
                if need.command and found != NO_FACTS
            }
            if any(each.verdict == "ask" for each in self._verdicts(state, needs, (), facts)):
                beyond = await self._sessions.approvals()
        except BadInput:
            pass  # `look` reports it

        def look(state: State, call: CallState) -> Denied | PermissionAsk | None:
            """The stricter verdict wins over the earlier one. What a person allowed stays allowed unless it is denied
            now, or was allowed because of a sandbox that is not there any more."""
            if call.judged.need.kind == "ask":
                return None
            need = self._need(state, call)
            try:
                facts = known.get(need.command or "") or self._facts_now(state, need)
                (today,) = self._verdicts(state, [need], beyond, [facts])
            except BadInput as error:
                return Denied(str(error))
            if today.verdict == "deny":
                return Denied(today.reason)
            if today.verdict == "allow" or (isinstance(call.answer, Allow) and not _lost_its_sandbox(call, need)):
                return None
            return PermissionAsk(
                new_ask_id(state.session), call.call.id, replace(call.judged.need, sandbox=need.sandbox), today.reason
            )

        return look

    def _need(self, state: State, call: CallState, need: Need | None = None) -> Need:
        """The need with today's sandbox: this process may have none where the one that judged the call had one."""
        need = need or call.judged.need
        if need.sandbox in ("", "none") or state.settings is None:
            return need
        return replace(need, sandbox=self._folders.of(state.settings.cwd).sandbox)

    def shown(self, state: State, beyond: Iterable[Approval]) -> PermissionsShown:
        """The permissions that apply to a session now, for people to read. Raises BadInput."""
        settings = state.settings
        assert settings is not None
        folder = self._folders.of(settings.cwd)
        policy, rules = self._policy(settings, state, beyond, folder), folder.rules
        table, unasked = table_of(policy.mode, policy.preset), settings.profile == "cowork"
        return PermissionsShown(
            mode=policy.mode,
            preset=policy.preset,
            matrix=tuple((what, _unasked(cell) if unasked else cell) for what, cell in matrix_in_words(table)),
            rules=(
                *(("deny", each.text) for each in rules.deny),
                *(("ask", each.text) for each in rules.ask),
                *(("allow", each.text) for each in rules.allow),
            ),
            approvals=policy.approvals,
            allowed_tools=policy.allowed_tools,
            sandbox=folder.sandbox,
            confined=folder.settings.sandbox.confines(policy.mode),
            skills_run=folder.skills_run,
            profile=settings.profile,
        )

    async def _facts(self, state: State, needs: Sequence[Need]) -> list[DiskFacts]:
        """The disk facts about the commands among the needs, looked up in a thread. Raises BadInput."""
        settings = state.settings
        assert settings is not None
        lookup = [self._lookup(settings, need) for need in needs]
        if not any(lookup):
            return [NO_FACTS] * len(needs)
        from coderelay.host.shell_command_disk_facts import look_up  # loaded with the first command

        return await asyncio.to_thread(lambda: [NO_FACTS if each is None else look_up(each) for each in lookup])

    def _facts_now(self, state: State, need: Need) -> DiskFacts:
        """The disk facts about a command that were not looked up before, or only in a mode in which nothing is looked
        up."""
        lookup = self._lookup(state.settings, need) if state.settings is not None else None
        if lookup is None:
            return NO_FACTS
        from coderelay.host.shell_command_disk_facts import look_up

        return look_up(lookup)

    def _lookup(self, settings: SessionSettings, need: Need) -> "DiskLookup | None":
        if need.command is None or mode_spec(settings.mode).unchecked:
            return None
        from coderelay.host.shell_command_disk_facts import lookup_for

        folder = self._folders.of(settings.cwd)
        return lookup_for(need.command, (settings.cwd, *settings.folders), folder.rules, folder.person_home)

    def _verdicts(
        self, state: State, needs: Sequence[Need], beyond: Iterable[Approval], facts: Sequence[DiskFacts]
    ) -> list[Verdict]:
        if not needs:
            return []
        settings = state.settings
        assert settings is not None
        folder = self._folders.of(settings.cwd)
        policy = self._policy(settings, state, beyond, folder)
        verdicts = judge([_with_targets(need) for need in needs], policy, facts)
        verdicts = [_outside(need, policy.folders) or each for need, each in zip(needs, verdicts, strict=True)]
        skill = state.turn.skill if folder.skills_run and state.turn is not None else ""
        pairs = zip(needs, verdicts, strict=True)
        return [_not_asked(need, verdict, settings.profile, skill) for need, verdict in pairs]

    def _policy(
        self, settings: SessionSettings, state: State, beyond: Iterable[Approval], folder: FolderConfig
    ) -> Policy:
        return Policy(
            settings.mode,
            tool_specs(),
            settings.enforced_tools,
            in_force(
                [*beyond, *state.approvals.values()],
                settings.cwd,
                now(),
                people=state.people,
                machine=ANY_MACHINE if settings.machine is None else settings.machine.id,
            ),
            preset=settings.preset or folder.settings.permissions.preset,
            rules=folder.rules,
            folders=(settings.cwd, *settings.folders),
            home=folder.person_home,
            network=folder.settings.sandbox.network,
        )


def _unasked(cell: Permission) -> Permission:
    return "deny" if cell == "deny" else "allow"


def _lost_its_sandbox(call: CallState, today: Need) -> bool:
    """Whether the call was to run in a sandbox when a person was asked, and would run without one now."""
    ask = call.judged.ask
    asked = ask.need if isinstance(ask, PermissionAsk) else call.judged.need
    confined = asked.sandbox in SANDBOXES and "outside" not in asked.rights
    return confined and today.sandbox not in SANDBOXES


def _with_targets(need: Need) -> Need:
    """The need with the targets of symlinks added to its paths: both names are judged. For commands, the targets are
    in their disk facts."""
    if need.kind not in ("read", "edit") or need.problem is not None:
        return need
    targets = [real for path in need.paths if (real := _real(path)) != path]
    return replace(need, paths=(*need.paths, *targets)) if targets else need


def _outside(need: Need, folders: tuple[str, ...]) -> Verdict | None:
    """Deny paths outside the session's current folders. A folder may have been removed from the session since the
    turn began, and the tools still have the folders of that time."""
    if need.kind not in ("read", "edit") or need.problem is not None:
        return None
    roots = [os.path.realpath(folder) for folder in folders]
    path = next((each for each in need.paths if not any(is_in(each, root) for root in roots)), None)
    return None if path is None else Verdict("deny", say("{path} is no longer in the session's folders", path=path))


def _real(path: str) -> str:
    """Where the path leads. A running command may keep exchanging symlinks, so that the target cannot be determined;
    then the path counts as outside."""
    try:
        return real_path(path)
    except OSError:
        return os.sep


def _not_asked(need: Need, verdict: Verdict, profile: Profile, skill: str) -> Verdict:
    """Turn an ask into an allow in the profile cowork, or while a skill is in use that needs no approval. A denial
    stays one, and so does a question to the person, or a plan: nobody else can answer it."""
    if verdict.verdict != "ask" or need.kind == "ask":
        return verdict
    if profile == "cowork":
        return Verdict("allow", "allowed without asking: the session has the profile cowork")
    if not skill:
        return verdict
    return Verdict(
        "allow",
        say(
            "allowed without asking: the skill {skill} is in use, and skills.auto_approve is set to run", skill=skill
        ),
    )


def _in_mode(state: State, mode: Mode | None) -> State:
    settings = state.settings
    return state if mode is None or settings is None else replace(state, settings=replace(settings, mode=mode))


def _judged(state: State, call: Call, need: Need, verdict: Verdict, mode: EditMode | None) -> Judged:
    if verdict.words:
        need = replace(need, words=verdict.words, prefix=verdict.prefix)
    ask = ask_about(state, call, need, verdict.reason, "policy", mode) if verdict.verdict == "ask" else None
    return Judged(call_id=call.id, verdict=verdict.verdict, need=need, reason=verdict.reason, ask=ask)
