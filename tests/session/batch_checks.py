"""Checks of the batches in a log: the calls of a message, from their verdicts to their ends."""

from coderelay.protocol.asks import Allow, PermissionAsk, PlanAsk
from coderelay.protocol.calls import Failed, Finished, Outcome, Stopped, Unknown
from coderelay.protocol.events import (
    ApprovalGranted,
    BatchOpened,
    BatchResumed,
    CallAsked,
    CallEnded,
    CallStarted,
    Judged,
)
from coderelay.protocol.ids import CallId
from tests.session.ask_checks import (
    BrokenPromise,
    ends_as_decided,
    is_asked_rightly,
    may_run,
    only_reads,
    promise,
    verdict_on,
)
from tests.session.observed_session import Reader
from tests.session.observed_turn import KnownBackground, KnownBatch, KnownCall
from tests.session.proposed_calls import RULED


class Batches(Reader):
    def open_batch(self, event: BatchOpened) -> None:
        message, turn = self.unopened, self.open_turn()
        if message is None:
            raise BrokenPromise("a batch without its message (D-01)")
        promise(event.batch_id == message.message_id, "a batch is named after its message (D-01)")
        promise([j.call_id for j in event.judged] == [c.id for c in message.calls], "not every call was judged")
        for judged in event.judged:
            self._check_verdict(judged)
        asks = [self.new_ask(judged.ask) if judged.ask is not None else None for judged in event.judged]
        known = zip(message.calls, event.judged, asks, strict=True)
        calls = [KnownCall(call, judged, ask) for call, judged, ask in known]
        turn.batch = KnownBatch(event.batch_id, calls, [ask for ask in asks if ask is not None])
        turn.planned = turn.planned or any(isinstance(each.ask, PlanAsk) for each in event.judged)
        self.calls.update({each.call.id: each for each in calls})
        self.unopened = None
        if turn.batch.asks:
            self.rest()

    def _check_verdict(self, judged: Judged) -> None:
        approved = [*self.approvals.values(), *self.beyond]
        here = [each for each in approved if each.project in (None, self.cwd)]
        verdict = verdict_on(judged.need, self.mode, self.allowed_tools, here)
        promise(
            self._is_ruled(judged) or judged.verdict == verdict,
            f"{judged.need.title}: {judged.verdict} instead of {verdict}",
        )
        if self.open_turn().stopped:
            promise(judged.ask is None, "people are asked after the stop")
        else:
            promise(is_asked_rightly(judged), "something else is asked than what is wanted (D-16)")

    def _is_ruled(self, judged: Judged) -> bool:
        """By a rule of the person's own, which the checker does not know."""
        return judged.need.tool.startswith(RULED)

    def resume_batch(self, event: BatchResumed) -> None:
        batch = self.open_turn().batch
        promise(batch is not None and batch.id == event.batch_id, "another batch was resumed")
        assert batch is not None
        promise(not batch.resumed, "a batch resumed twice (D-03)")
        promise(not self.open_turn().stopped, "a stopped batch was resumed")
        batch.resumed = True

    def start_call(self, event: CallStarted, epoch: int) -> None:
        self.check_owned()
        turn, known = self.open_turn(), self.calls.get(event.call_id)
        promise(known is None or known.started is None, "a call started twice (X-25)")
        running = turn.running()
        call = self._next_call(event.call_id, after=len(running))
        promise(self.begun.issuperset(each.call.id for each in running), "a call started while another still ran")
        alone = not running or all(only_reads(each.judged.need) for each in [*running, call])
        promise(alone, "what changes something started beside another call")
        promise(not turn.open_asks(), "a call started while its batch waits (D-02)")
        promise(not turn.stopped, "a call started after the stop")
        promise(may_run(call.judged, call.decision()), "a call started that nobody allowed")
        call.started = epoch
        self.begun.add(event.call_id)

    def ask_again(self, event: CallAsked, epoch: int) -> None:
        """It goes back to where it was before it started, and waits for another answer."""
        self.check_owned()
        call, turn = self._next_call(event.call_id), self.open_turn()
        assert turn.batch is not None
        promise(len(turn.running()) < 2, "a call asked while another still ran")
        promise(call.started == epoch, "a call asked that this owner had not started (D-11)")
        promise(not turn.stopped, "people are asked after the stop")
        promise((event.ask.call_id, event.ask.need) == (event.call_id, call.judged.need), "another call asked")
        call.started, call.ask = None, self.new_ask(event.ask)
        # From now on only the answer to this ask counts, whatever was the verdict before.
        call.judged = Judged(event.call_id, "ask", call.judged.need, event.ask.reason, event.ask)
        turn.batch.asks.append(call.ask)
        turn.batch.resumed = False
        self.rest()

    def end_call(self, event: CallEnded, epoch: int) -> None:
        self.check_owned()
        call, turn = self._next_call(event.call_id), self.open_turn()
        promise(event.call_id not in self.begun, "a call ended in the append that started it")
        call.outcome = event.outcome
        self.told.end_call(event.call_id, event.outcome)
        self._leave_running(event.outcome)
        if call.started is None:
            self._end_unstarted(call, event.outcome)
        elif call.started < epoch:
            promise(event.outcome == Unknown(), "a lost call ends unknown (X-25)")
        else:
            promise(isinstance(event.outcome, Finished | Failed | Stopped | Unknown), "it had started")
            promise(event.outcome != Stopped(started=False) or turn.stopped, "it had started")

    def _leave_running(self, outcome: Outcome) -> None:
        number = outcome.background if isinstance(outcome, Finished) else None
        if number is not None:
            is_next = number == str(len(self.background) + 1)
            promise(is_next, f"the number {number} of a background command is not new (D-17)")
            self.background[number] = KnownBackground(self.owner)

    def _end_unstarted(self, call: KnownCall, outcome: Outcome) -> None:
        """As it was decided, or because the turn ends in the same append."""
        turn = self.open_turn()
        if ends_as_decided(call.judged, call.decision(), outcome):
            return
        self.ends_now = True
        expected = (
            isinstance(outcome, Stopped) and not outcome.started if turn.stopped else isinstance(outcome, Failed)
        )
        promise(expected, "a call that did not run says why")

    def _next_call(self, call_id: CallId, *, after: int = 0) -> KnownCall:
        open_calls = self.open_turn().open_calls()[after:]
        promise(bool(open_calls), "a call outside of its batch")
        promise(open_calls[0].call.id == call_id, "calls out of order (D-03)")
        return open_calls[0]

    def to_run(self) -> list[CallId]:
        """What runs; if nothing does, what may start now."""
        turn = self.open_turn()
        running = turn.running()
        return [each.call.id for each in running or _side_by_side(turn.open_calls())]

    def check_running(self) -> None:
        """After every append: what runs is this owner's, and all of it that could start with the first."""
        running = self.turn.running() if self.turn is not None else []
        promise(all(each.started == self.epoch for each in running), "a lost call was left open (X-25)")
        if self.begun and self.turn is not None and not self.turn.started.blocking:
            whole = _side_by_side(self.open_turn().open_calls())
            promise(len(running) == len(whole), "reads that could run at the same time were kept apart")

    def grant(self, event: ApprovalGranted) -> None:
        approval, asked = event.approval, self.asks.get(event.approval.id)
        promise(asked is not None and asked.decision == Allow("session"), "an approval that nobody gave")
        assert asked is not None
        assert isinstance(asked.ask, PermissionAsk)
        need = asked.ask.need
        exact = (approval.tool, approval.command, approval.paths) == (need.tool, need.command, need.paths)
        promise(exact and approval.project is None, "more was approved than asked for")
        self.approvals[approval.id] = approval


def _side_by_side(calls: list[KnownCall]) -> list[KnownCall]:
    """The first call and, if it only reads, all up to the first that does something else or may not run."""
    if not only_reads(calls[0].judged.need):
        return calls[:1]
    reading = [only_reads(each.judged.need) and may_run(each.judged, each.decision()) for each in calls]
    return calls[: [*reading, False].index(False)]
