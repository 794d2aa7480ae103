"""What an agent is lent: the open turn of a session this process owns."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence

from coderelay.host.record import Record
from coderelay.host.spending import Spending
from coderelay.host.turn_files import OpenTurnFiles
from coderelay.policy.approvals import in_force
from coderelay.policy.judge import Rules, Verdict, judge
from coderelay.policy.secrets import Secrets
from coderelay.protocol.asks import Approval, Ask, PermissionAsk, PlanAsk, QuestionAsk
from coderelay.protocol.calls import Call, Failed, Need, Outcome, Stopped, Unknown
from coderelay.protocol.errors import Fenced, MustAsk
from coderelay.protocol.events import AnyEvent, CallStarted, HistoryCompacted, Judged, MessageAdded
from coderelay.protocol.ids import OwnerId, SessionId, TurnId, new_ask_id
from coderelay.protocol.live import Live
from coderelay.session import progress
from coderelay.session.next_action import Action, Wait, next_action
from coderelay.session.state import Settings, State


def now() -> int:
    return time.time_ns() // 1_000_000


_CHANGES_NOTHING = ("read", "ask")

Effect = Callable[[Call], Awaitable[Outcome]]

Approvals = Callable[[], Awaitable[Sequence[Approval]]]
"""What was approved beyond one session, as it stands now."""


async def files_left(state: State, files: OpenTurnFiles) -> str:
    """The files as they are now, if the open turn may have changed any."""
    taken = state.turn.tree if state.turn is not None else None
    if taken is None or not taken.tree or state.settings is None:
        return ""
    return await files().after(state.settings.cwd)


class HostTurn:
    """Belongs to one claim: when the session has another owner, or none while it waits for people, nothing
    more can be written through it."""

    def __init__(
        self,
        record: Record,
        epoch: int,
        me: OwnerId,
        approvals: Approvals,
        spending: Spending,
        files: OpenTurnFiles,
        secrets: Secrets,
    ) -> None:
        assert record.state.turn is not None
        self._secrets = secrets
        self._approvals = approvals
        self._spending = spending
        self._files = files
        self._record = record
        self._me = me
        self.epoch = epoch
        self.id: TurnId = record.state.turn.started.turn_id

    @property
    def session(self) -> SessionId:
        return self._record.session

    @property
    def state(self) -> State:
        return self._record.state

    @property
    def settings(self) -> Settings:
        assert self.state.settings is not None
        return self.state.settings

    def next_action(self) -> Action:
        return next_action(self.state) if self._is_mine(self.state) else Wait()

    def show(self, live: Live) -> None:
        self._record.show(live)

    async def take_steering(self) -> None:
        if any(each.steer for each in self.state.queue):
            await self._write(progress.take_steering)

    async def may_spend(self) -> bool:
        if not self._is_mine(self.state):
            return False
        ask = await self._spending.ask(self.state, now())
        if ask is not None:
            await self._write(lambda state: progress.pause_for_budget(state, ask))
        return ask is None

    async def compact(self, compacted: HistoryCompacted) -> None:
        await self._write(lambda state: progress.after_compaction(state, compacted, now=now()))

    async def add(self, message: MessageAdded, needs: Sequence[Need], *, final: bool) -> None:
        judged = await self._judge(message.calls, [self._secrets.hide_need(need) for need in needs])
        plan_ask = new_ask_id(self.session)
        tree = await files_left(self.state, self._files) if final else ""

        def decide(state: State) -> list[AnyEvent]:
            return progress.after_message(
                state, message, judged, final=final, now=now(), plan_ask=plan_ask, tree=tree
            )

        await self._write(decide)

    async def perform(self, calls: Sequence[Call], effect: Effect) -> None:
        await self._start(calls)
        running = [_Running(call, effect, self) for call in calls]
        try:
            await self._keep_files(calls)
            if len(running) == 1:
                await running[0].run()
            else:
                async with asyncio.TaskGroup() as group:
                    for each in running:
                        group.create_task(each.run())
        except BaseExceptionGroup as failures:
            raise failures.exceptions[0] from failures  # the first says what went wrong
        finally:
            await asyncio.shield(self._end(running))

    async def _keep_files(self, calls: Sequence[Call]) -> None:
        """Before the first change of a turn, so that it can be undone."""
        needs = [self.state.calls[call.id].judged.need for call in calls]
        if all(need.kind in _CHANGES_NOTHING and need.command is None for need in needs):
            return
        paths = [path for need in needs if need.kind == "edit" for path in need.paths]
        turn = self.state.turn
        assert turn is not None
        known = turn.tree
        if known is None:
            taken = await self._files().before(self.settings.cwd, self.id, paths)
        elif known.tree and paths:
            taken = await self._files().keep(known, paths)
        else:
            return
        if taken != known:
            await self._write(lambda state: [taken])

    @property
    def is_stopped(self) -> bool:
        turn = self.state.turn
        return turn is not None and turn.stop_requested

    async def _start(self, calls: Sequence[Call]) -> None:
        """Most calls were started in the append before; then this writes nothing."""

        def decide(state: State) -> list[AnyEvent]:
            known = [state.calls[call.id] for call in calls]
            if all(each.started_epoch is not None for each in known):
                mine = all(each.started_epoch == self.epoch for each in known)
                assert mine, "started by another owner: never to be run again"
                return []
            assert all(progress.settled(each) is None for each in known), "not allowed to run"
            return [CallStarted(batch_id=each.batch_id, call_id=each.call.id) for each in known]

        await self._write(decide)

    async def _end(self, running: Sequence["_Running"]) -> None:
        alone = running[0]
        if len(running) == 1 and isinstance(alone.outcome, MustAsk):
            await self._ask_again(alone.call, alone.outcome.message)
            return
        ends = [progress.End(each.call.id, self._secrets.hide_outcome(each.ended()), each.ms) for each in running]
        cut = any(isinstance(end.outcome, Stopped | Unknown) for end in ends)
        await self._write(lambda state: progress.after_calls(state, ends, go_on=not cut))

    async def _ask_again(self, call: Call, reason: str) -> None:
        known = self.state.calls[call.id]
        ask = PermissionAsk(new_ask_id(self.session), call.id, known.judged.need, reason)
        await self._write(lambda state: progress.ask_again(state, call.id, ask))

    async def _write(self, decide: Callable[[State], list[AnyEvent]]) -> None:
        def decide_if_mine(state: State) -> list[AnyEvent]:
            if not self._is_mine(state):
                raise Fenced(self.session, self.epoch, state.epoch)
            return decide(state)

        await self._record.append(decide_if_mine, epoch=self.epoch)

    def _is_mine(self, state: State) -> bool:
        turn = state.turn
        return turn is not None and turn.started.turn_id == self.id and state.owner == self._me

    async def _judge(self, calls: Sequence[Call], needs: Sequence[Need]) -> tuple[Judged, ...]:
        verdicts = self._verdicts(needs, ())
        if any(each.verdict == "ask" for each in verdicts):
            verdicts = self._verdicts(needs, await self._approvals())
        pairs = zip(calls, needs, verdicts, strict=True)
        return tuple(
            Judged(
                call_id=call.id,
                verdict=verdict.verdict,
                need=need,
                reason=verdict.reason,
                ask=self._ask(call, need, verdict.reason) if verdict.verdict == "ask" else None,
            )
            for call, need, verdict in pairs
        )

    def _verdicts(self, needs: Sequence[Need], approvals: Sequence[Approval]) -> list[Verdict]:
        settings = self.settings
        known = in_force([*approvals, *self.state.approvals.values()], settings.cwd)
        return judge(needs, Rules(settings.mode, settings.allowed_tools, known))

    def _ask(self, call: Call, need: Need, reason: str) -> Ask:
        ask_id = new_ask_id(self.session)
        if need.questions:
            return QuestionAsk(ask_id, call.id, need.questions, deadline=self._deadline())
        if need.plan is not None:
            return PlanAsk(ask_id, need.plan, call.id)
        return PermissionAsk(ask_id, call.id, need, reason)

    def _deadline(self) -> int | None:
        """An absolute time, so that a restart neither extends nor loses it."""
        assert self.state.turn is not None
        seconds = self.state.turn.started.answer_within
        return None if seconds is None else now() + seconds * 1000


class _Running:
    """One call while it acts. Until it has ended, nobody knows whether it had an effect."""

    def __init__(self, call: Call, effect: Effect, turn: HostTurn) -> None:
        self.call = call
        self.outcome: Outcome | MustAsk = Unknown()
        self.ms = 0
        self._begun = False
        self._effect = effect
        self._turn = turn

    async def run(self) -> None:
        began = time.monotonic()
        self._begun = True
        try:
            self.outcome = await self._effect(self.call)
        except MustAsk as must_ask:
            self.outcome = must_ask
        except asyncio.CancelledError:
            if self._turn.is_stopped:
                self.outcome = Stopped(started=True)
            raise
        finally:
            self.ms = round((time.monotonic() - began) * 1000)

    def ended(self) -> Outcome:
        """Beside others, a call cannot go back to waiting: it is for the model to try it alone."""
        if isinstance(self.outcome, MustAsk):
            return Failed(f"{self.outcome.message}; call it on its own")
        if not self._begun and self._turn.is_stopped:
            return Stopped(started=False)
        return self.outcome
