"""What today's policy says of a session's calls: when they are proposed, and again when they are to start."""

import os
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from coderelay.policy.approvals import in_force
from coderelay.policy.judge import Policy, Verdict, judge
from coderelay.policy.rules import Rules
from coderelay.policy.tables import in_words, table_of
from coderelay.protocol.asks import Allow, Approval, Ask, PermissionAsk, PlanAsk, QuestionAsk
from coderelay.protocol.calls import Call, Denied, Need
from coderelay.protocol.errors import BadInput
from coderelay.protocol.events import Judged, Preset
from coderelay.protocol.ids import new_ask_id
from coderelay.protocol.permissions import PermissionsShown
from coderelay.session.progress import SecondLook, settled
from coderelay.session.state import CallState, Settings, State


class FolderPolicy(Struct, frozen=True):
    """What is configured where a session works. `home` is what `~/` in rules means; every command has the
    `network`."""

    preset: Preset = "balanced"
    rules: Rules = Rules()
    home: str = ""
    network: bool = False


PolicyOf = Callable[[str], FolderPolicy]
"""By folder. Raises BadInput if what is written there is wrong."""

SandboxOf = Callable[[str], str]
"""What commands would run in, by folder."""

Approvals = Callable[[], Awaitable[Sequence[Approval]]]
"""What was approved beyond one session, as it stands now."""


def usual_policy(cwd: str) -> FolderPolicy:
    return FolderPolicy()


def unknown_sandbox(cwd: str) -> str:
    return ""


def now() -> int:
    return time.time_ns() // 1_000_000


class Judging:
    def __init__(self, approvals: Approvals, policy_of: PolicyOf, sandbox_of: SandboxOf = unknown_sandbox) -> None:
        self._approvals = approvals
        self._sandbox_of = sandbox_of
        self._policy_of = policy_of

    async def judge(
        self, state: State, calls: Sequence[Call], needs: Sequence[Need], shown: Sequence[Need]
    ) -> tuple[Judged, ...]:
        """The calls of a message, all together. `shown` are their needs as they are stored and shown."""
        verdicts = self._verdicts(state, needs, ())
        if any(each.verdict == "ask" for each in verdicts):
            verdicts = self._verdicts(state, needs, await self._approvals())
        return tuple(
            _judged(state, call, need, verdict) for call, need, verdict in zip(calls, shown, verdicts, strict=True)
        )

    async def second_look(self, state: State) -> SecondLook:
        """For calls that were judged before."""
        waiting = [each for each in state.open_calls() if each.started_epoch is None and settled(each) is None]
        beyond: Sequence[Approval] = ()
        try:
            needs = [self._need(state, each) for each in waiting]
            if any(each.verdict == "ask" for each in self._verdicts(state, needs, ())):
                beyond = await self._approvals()
        except BadInput:
            pass  # the look itself says so

        def look(state: State, call: CallState) -> Denied | PermissionAsk | None:
            """Stricter wins over what was said before; what a person allowed stays so unless it is denied."""
            if call.judged.need.kind == "ask":
                return None
            try:
                (today,) = self._verdicts(state, [self._need(state, call)], beyond)
            except BadInput as error:
                return Denied(str(error))
            if today.verdict == "deny":
                return Denied(today.reason)
            if today.verdict == "allow" or isinstance(call.answer, Allow):
                return None
            return PermissionAsk(new_ask_id(state.session), call.call.id, call.judged.need, today.reason)

        return look

    def _need(self, state: State, call: CallState) -> Need:
        """As it is today: this process may have no sandbox where the one that judged it had one."""
        need = call.judged.need
        if need.sandbox in ("", "none") or state.settings is None:
            return need
        return replace(need, sandbox=self._sandbox_of(state.settings.cwd))

    def shown(self, state: State, beyond: Iterable[Approval]) -> PermissionsShown:
        """Everything that counts for a session now. Raises BadInput."""
        settings = state.settings
        assert settings is not None
        configured = self._policy_of(settings.cwd)
        policy, rules = self._policy(settings, state, beyond, configured), configured.rules
        return PermissionsShown(
            mode=policy.mode,
            preset=policy.preset,
            matrix=tuple(in_words(table_of(policy.mode, policy.preset))),
            rules=(
                *(("deny", each.text) for each in rules.deny),
                *(("ask", each.text) for each in rules.ask),
                *(("allow", each.text) for each in rules.allow),
            ),
            approvals=policy.approvals,
            allowed_tools=policy.allowed_tools,
            sandbox=self._sandbox_of(settings.cwd),
        )

    def _verdicts(self, state: State, needs: Sequence[Need], beyond: Iterable[Approval]) -> list[Verdict]:
        if not needs:
            return []
        settings = state.settings
        assert settings is not None
        policy = self._policy(settings, state, beyond, self._policy_of(settings.cwd))
        return judge([_with_targets(need) for need in needs], policy)

    def _policy(
        self, settings: Settings, state: State, beyond: Iterable[Approval], configured: FolderPolicy
    ) -> Policy:
        return Policy(
            settings.mode,
            settings.allowed_tools,
            in_force([*beyond, *state.approvals.values()], settings.cwd, now()),
            preset=settings.preset or configured.preset,
            rules=configured.rules,
            folders=(settings.cwd, *settings.folders),
            home=configured.home,
            network=configured.network,
        )


def _with_targets(need: Need) -> Need:
    """Where links lead counts as well as what they are called."""
    if need.kind not in ("read", "edit") or need.problem is not None:
        return need
    targets = [real for path in need.paths if (real := os.path.realpath(path)) != path]
    return replace(need, paths=(*need.paths, *targets)) if targets else need


def _judged(state: State, call: Call, need: Need, verdict: Verdict) -> Judged:
    if verdict.words:
        need = replace(need, words=verdict.words, prefix=verdict.prefix)
    ask = _ask(state, call, need, verdict.reason) if verdict.verdict == "ask" else None
    return Judged(call_id=call.id, verdict=verdict.verdict, need=need, reason=verdict.reason, ask=ask)


def _ask(state: State, call: Call, need: Need, reason: str) -> Ask:
    ask_id = new_ask_id(state.session)
    if need.questions:
        return QuestionAsk(ask_id, call.id, need.questions, deadline=_deadline(state))
    if need.plan is not None:
        return PlanAsk(ask_id, need.plan, call.id)
    return PermissionAsk(ask_id, call.id, need, reason)


def _deadline(state: State) -> int | None:
    """An absolute time, so that a restart neither extends nor loses it."""
    assert state.turn is not None
    seconds = state.turn.started.answer_within
    return None if seconds is None else now() + seconds * 1000
