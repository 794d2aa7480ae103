"""Checks of the turns in a log whose agent blocks: calls that come one by one, and asks that are held."""

from coderelay.protocol.asks import Allow, Answers, PlanAsk, PlanDecision
from coderelay.protocol.calls import Denied, Failed, Finished, Outcome, Stopped, Unknown
from coderelay.protocol.events import CallEnded, CallProposed, CallStarted, TurnParked
from tests.session.ask_checks import APPROVING, BrokenPromise, ends_as_decided, may_run, promise, verdict_on
from tests.session.batch_checks import Batches
from tests.session.observed_turn import KnownAsk, KnownBatch, KnownCall

NOT_ASKED = "the agent made this call without asking"
NEVER_BEGAN = Failed("the call was allowed, but the process that ran the agent ended before the call began")
GIVEN_UP = Denied("the agent withdrew the call")


class HeldBatches(Batches):
    def propose(self, event: CallProposed) -> None:
        self.check_owned()
        turn, judged = self.open_turn(), event.judged
        promise(turn.started.blocking, "an agent that does not block proposed a single call")
        promise(event.turn_id == turn.started.turn_id, "a call of another turn")
        promise(not turn.stopped, "a call was proposed after the stop")
        promise(event.call.id == judged.call_id, "not this call was judged")
        promise(event.call.id not in self.calls, "a call was proposed twice")
        if judged.granted_by is not None:
            self._check_grant(event)
        elif judged.reason == NOT_ASKED:
            self.unasked.add(event.call.id)
        else:
            self._check_verdict(judged)
        self.told.add(event)
        batch = self._batch_of(event)
        call = KnownCall(event.call, judged, None if judged.ask is None else self.new_ask(judged.ask))
        batch.calls.append(call)
        self.calls[event.call.id] = call
        turn.planned = turn.planned or isinstance(judged.ask, PlanAsk)
        if call.ask is not None:
            batch.asks.append(call.ask)
            batch.resumed = False

    def _batch_of(self, event: CallProposed) -> KnownBatch:
        turn = self.open_turn()
        if turn.batch is not None and turn.open_calls():
            promise(event.batch_id == turn.batch.id, "a call left its batch, of which others are open (D-01)")
        elif turn.last_message is not None:
            promise(event.batch_id == turn.last_message, "a batch is named after its message (D-01)")
        if turn.batch is None or turn.batch.id != event.batch_id:
            turn.batch = KnownBatch(event.batch_id, [], [])
        return turn.batch

    def _check_grant(self, event: CallProposed) -> None:
        """An equal call of this turn was allowed by a person, never ran, and nobody has used that answer."""
        granted = event.judged.granted_by
        known = self.calls.get(granted) if granted is not None else None
        if known is None or granted is None:
            raise BrokenPromise("a call uses the answer to one that nobody knows")
        promise(granted in self.given, "a call uses an answer that another turn or no person gave")
        promise(granted not in self.used, "a call uses an answer again (X-25)")
        equal = (known.call.name, known.call.arguments) == (event.call.name, event.call.arguments)
        promise(equal, "a call uses the answer to another call")
        promise(event.judged.verdict == "allow" and event.judged.ask is None, "a granted call was not allowed")
        approved = [each for each in [*self.approvals.values(), *self.beyond] if each.project in (None, self.cwd)]
        verdict = verdict_on(event.judged.need, self.mode, self.allowed_tools, approved)
        promise(verdict != "deny" or self._is_ruled(event.judged), "an earlier answer loosens a denial")
        self.used.add(granted)

    def start_held(self, event: CallStarted, epoch: int) -> None:
        self.check_owned()
        turn, call = self.open_turn(), self._open_call(event)
        promise(call.started is None, "a call started twice (X-25)")
        promise(not turn.stopped, "a call started after the stop")
        ran_unasked = event.call_id in self.unasked
        promise(ran_unasked or _may_be_made(call), "a call started that nobody allowed")
        call.started = epoch
        self.begun.add(event.call_id)

    def end_held(self, event: CallEnded, epoch: int) -> None:
        self.check_owned()
        turn, call = self.open_turn(), self._open_call(event)
        promise(event.call_id not in self.begun or event.call_id in self.unasked, "a call ended as it started")
        call.outcome = event.outcome
        self.told.end_call(event.call_id, event.outcome)
        self._leave_running(event.outcome)
        if call.started is None:
            self._end_unmade(call, event.outcome)
        elif call.started < epoch:
            promise(event.outcome == Unknown(), "a lost call ends unknown (X-25)")
        else:
            promise(isinstance(event.outcome, Finished | Failed | Stopped | Unknown), "it had started")
            promise(event.outcome != Stopped(started=False) or turn.stopped, "it had started")

    def _end_unmade(self, call: KnownCall, outcome: Outcome) -> None:
        if ends_as_decided(call.judged, call.decision(), outcome):
            if self.claimed and _is_consent(call.ask):
                self.given.add(call.call.id)
            return
        if outcome == NEVER_BEGAN:
            promise(self.claimed and _may_be_made(call), "only a claim finds calls that never began")
            self.given |= {call.call.id} if _is_consent(call.ask) else set()
        elif outcome != GIVEN_UP:
            self._end_unstarted(call, outcome)

    def park_turn(self, event: TurnParked) -> None:
        self.check_owned()
        turn = self.open_turn()
        promise(turn.started.blocking, "a turn was parked whose agent holds nothing")
        promise(event.turn_id == turn.started.turn_id, "another turn was parked")
        promise(bool(turn.open_asks()), "a turn was parked that waits for nobody (X-05)")
        waiting = [each for each in turn.open_asks() if not self.asks[each].parked]
        promise(not waiting, "a turn was parked while people are expected to answer (X-05)")
        promise(all(each.started is None for each in turn.open_calls()), "a turn was parked while a call ran (X-24)")
        self.rested, self.owner = self.owner, None

    def check_held(self) -> None:
        """After every append: what is proposed is held, runs, or is over; what was not asked about is over."""
        turn = self.turn
        if turn is None or not turn.started.blocking:
            return
        for call in turn.open_calls():
            promise(call.call.id not in self.unasked, "a call that the agent did not ask about has no end")
            promise(call.started is not None or call.ask is not None, "a call was passed over")
            promise(not self.claimed, "a claim left a call open (X-25)")
        for call in turn.batch.calls if turn.batch is not None else []:
            asks_on = call.outcome is not None and call.ask is not None and call.ask.decision is None
            promise(turn.stopped or not asks_on, "an ask outlives its call (D-18)")

    def _open_call(self, event: CallStarted | CallEnded) -> KnownCall:
        found = [each for each in self.open_turn().open_calls() if each.call.id == event.call_id]
        promise(bool(found), "a call outside of its batch")
        return found[0]


def _may_be_made(call: KnownCall) -> bool:
    """Whether the agent may make it: also if it is a question that was answered or a plan that was approved."""
    return may_run(call.judged, call.decision()) or call.judged.verdict == "allow" or _is_consent(call.ask)


def _is_consent(ask: KnownAsk | None) -> bool:
    match ask.decision if ask is not None else None:
        case Allow() | Answers():
            return True
        case PlanDecision(option=option):
            return option in APPROVING
        case _:
            return False
