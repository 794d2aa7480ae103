"""What a log may say, written down a second time with none of the code under test.

Reads the log page by page (a page is one append) and raises BrokenPromise at the first event that a
promise forbids. What it remembers is enough to say what is due next, to compare with `next_action`.
"""

from collections.abc import Sequence

from msgspec import Struct, field

from coderelay.protocol.asks import Allow, Approval, Ask, Deny, DenyAndStop, PermissionAsk, PlanAsk
from coderelay.protocol.calls import Failed, Finished, Outcome, Stopped, Unknown
from coderelay.protocol.codec import kind_of
from coderelay.protocol.content import Text
from coderelay.protocol.events import (
    AnyEvent,
    ApprovalGranted,
    ApprovalRevoked,
    AskAnswered,
    AskOpened,
    BatchOpened,
    BatchResumed,
    CallAsked,
    CallEnded,
    CallStarted,
    Judged,
    MessageAdded,
    Mode,
    PromptAdmitted,
    PromptRecalled,
    Recorded,
    SessionClaimed,
    SessionConfigured,
    SessionCreated,
    SessionDeleted,
    StopRequested,
    TurnEnded,
    TurnStarted,
    Unrecognised,
)
from coderelay.protocol.ids import AskId, CallId, OwnerId, PromptId
from coderelay.protocol.summary import Phase
from coderelay.session.next_action import Action, AskModel, EndTurn, Rest, RunCall, StartTurn, Wait
from tests.session.known import KnownAsk, KnownBatch, KnownCall, KnownTurn
from tests.session.promises import (
    BrokenPromise,
    ends_as_decided,
    fits,
    follows_from,
    is_asked_rightly,
    is_expected,
    may_run,
    promise,
    verdict_on,
)


class Checker(Struct):
    """`beyond` is what was approved for more than this session, and written elsewhere."""

    head: int = 0
    epoch: int = 0
    deleted: bool = False
    owner: OwnerId | None = None
    rested: OwnerId | None = None
    cwd: str = ""
    mode: Mode = "default"
    allowed_tools: tuple[str, ...] = ()
    admitted: set[PromptId] = field(default_factory=set[PromptId])
    queue: list[PromptAdmitted] = field(default_factory=list[PromptAdmitted])
    sent_since_stop: bool = True
    turn: KnownTurn | None = None
    last: TurnEnded | None = None
    calls: dict[CallId, KnownCall] = field(default_factory=dict[CallId, KnownCall])
    asks: dict[AskId, KnownAsk] = field(default_factory=dict[AskId, KnownAsk])
    approvals: dict[AskId, Approval] = field(default_factory=dict[AskId, Approval])
    beyond: list[Approval] = field(default_factory=list[Approval])
    prompts: list[str] = field(default_factory=list[str])
    _unopened: MessageAdded | None = None
    _ends_now: bool = False
    _owed: list[AnyEvent] = field(default_factory=list[AnyEvent])

    def see(self, page: Sequence[Recorded]) -> None:
        """One append: it keeps every promise event by event, and leaves nothing half said."""
        for recorded in page:
            self._place(recorded)
            self._pay(recorded.event)
            self._read(recorded)
        promise(self._unopened is None, "a message with calls has no batch")
        promise(not self._ends_now, "a call was passed over")
        promise(not self._owed, f"{[*map(kind_of, self._owed)]} was due behind the answer (A-62, X-03)")
        batch = self.turn.batch if self.turn else None
        if batch is not None:
            decisions = [each.decision for each in batch.asks]
            due = bool(decisions) and not any(each is None or isinstance(each, DenyAndStop) for each in decisions)
            promise(batch.resumed == due, "resumed too early or not at all (D-03)")

    def due(self) -> Action:
        """What must happen next."""
        if self.turn is None:
            return StartTurn() if self.queue and self.sent_since_stop else Rest()
        if self.turn.stopped:
            return EndTurn(stopped=True)
        if self.turn.open_asks():
            return Wait()
        if calls := self.turn.open_calls():
            return RunCall(calls[0].call.id)
        used_up = self.turn.steps >= self.turn.started.max_steps
        return EndTurn(stopped=False) if used_up else AskModel()

    def phase(self) -> Phase:
        if self.deleted:
            return "deleted"
        if self.turn is not None:
            return "waiting" if self.turn.open_asks() else "running"
        if self.last is None:
            return "idle"
        return "failed" if self.last.ending == "step_limit" else self.last.ending

    def open_asks(self) -> list[AskId]:
        return self.turn.open_asks() if self.turn is not None else []

    def _place(self, recorded: Recorded) -> None:
        promise(not self.deleted, "something follows session.deleted")
        promise(recorded.seq == self.head + 1, "the numbers have holes")
        first = isinstance(recorded.event, SessionCreated)
        promise(first == (recorded.seq == 1), "session.created is not the first event, or not the only one")
        raised = 1 if isinstance(recorded.event, SessionClaimed) else 0
        promise(recorded.epoch == self.epoch + raised, "the epoch rises with a claim and only then")
        promise(
            self._unopened is None or isinstance(recorded.event, BatchOpened),
            "a batch must follow its message at once",
        )
        self.head, self.epoch = recorded.seq, recorded.epoch

    def _pay(self, event: AnyEvent) -> None:
        if self._owed:
            due = self._owed.pop(0)
            promise(is_expected(due, event), f"{kind_of(due)} was due behind the answer (A-62, X-03)")

    def _read(self, recorded: Recorded) -> None:
        match recorded.event:
            case PromptAdmitted() as event:
                promise(event.prompt_id not in self.admitted, "a prompt was admitted twice")
                self.admitted.add(event.prompt_id)
                self.queue.append(event)
                self.sent_since_stop = True
            case SessionClaimed() as event:
                promise(not isinstance(self.due(), Rest | Wait), "claimed while nothing is to do (D-06)")
                self.owner, self.rested = event.owner, None
            case TurnStarted() as event:
                self._start_turn(event)
            case MessageAdded() as event:
                self._add(event)
            case BatchOpened() as event:
                self._open(event)
            case AskOpened() as event:
                self._open_plan(event)
            case AskAnswered() as event:
                self._answer(event, recorded.at)
            case BatchResumed() as event:
                self._resume(event)
            case CallStarted() as event:
                self._start(event, recorded.epoch)
            case CallAsked() as event:
                self._ask_again(event, recorded.epoch)
            case CallEnded() as event:
                self._end(event, recorded.epoch)
            case ApprovalGranted() as event:
                self._grant(event)
            case ApprovalRevoked() as event:
                promise(event.approval_id in self.approvals, "an approval was revoked that nobody gave")
                del self.approvals[event.approval_id]
            case PromptRecalled() as event:
                left = [each for each in self.queue if each.prompt_id != event.prompt_id]
                promise(len(left) == len(self.queue) - 1, "a prompt was recalled that did not wait")
                self.queue = left
            case StopRequested():
                self._stop()
            case TurnEnded() as event:
                self._end_turn(event)
            case SessionCreated() as event:
                self.cwd, self.mode, self.allowed_tools = event.cwd, event.mode, event.allowed_tools
            case SessionConfigured() as event:
                self.mode = event.mode or self.mode
                self.allowed_tools = self.allowed_tools if event.allowed_tools is None else event.allowed_tools
            case SessionDeleted():
                self._delete()
            case Unrecognised():
                pass

    def _stop(self) -> None:
        if self.turn is None:
            promise(bool(self.queue) and self.sent_since_stop, "a stop where nothing is about to run")
        else:
            promise(not self.turn.stopped, "a turn is stopped once")
            self.turn.stopped = True
        self.sent_since_stop = False

    def _start_turn(self, event: TurnStarted) -> None:
        self._owned()
        promise(self.turn is None, "two turns at once")
        promise(self.sent_since_stop, "a queued prompt started after a stop (X-12)")
        promise(bool(self.queue), "a turn without a prompt")
        prompt = self.queue.pop(0)
        promise((event.prompt_id, event.text) == (prompt.prompt_id, prompt.text), "prompts ran out of order")
        promise(event.mode == self.mode, "a turn starts in another mode")
        promise(event.answer_within == prompt.answer_within, "a turn waits as long as its prompt says (X-05)")
        self.turn = KnownTurn(event)
        self.prompts.append(event.text)

    def _add(self, event: MessageAdded) -> None:
        self._owned()
        turn = self._open_turn()
        promise(event.turn_id == turn.started.turn_id, "a message of another turn")
        promise(not turn.open_asks(), "the model went on while people were asked (D-06)")
        promise(not turn.open_calls(), "the model went on before every call had its end (D-08)")
        promise(turn.steps < turn.started.max_steps, "more steps than allowed (C-13)")
        turn.steps += 1
        turn.usage = turn.usage.plus(event.usage)
        turn.text = "".join(block.text for block in event.blocks if isinstance(block, Text))
        self._unopened = event if event.calls else None

    def _open(self, event: BatchOpened) -> None:
        message, turn = self._unopened, self._open_turn()
        if message is None:
            raise BrokenPromise("a batch without its message (D-01)")
        promise(event.batch_id == message.message_id, "a batch is named after its message (D-01)")
        promise([j.call_id for j in event.judged] == [c.id for c in message.calls], "not every call was judged")
        for judged in event.judged:
            self._check_verdict(judged)
        asks = [self._new_ask(judged.ask) if judged.ask is not None else None for judged in event.judged]
        known = zip(message.calls, event.judged, asks, strict=True)
        calls = [KnownCall(call, judged, ask) for call, judged, ask in known]
        turn.batch = KnownBatch(event.batch_id, calls, [ask for ask in asks if ask is not None])
        turn.planned = turn.planned or any(isinstance(each.ask, PlanAsk) for each in event.judged)
        self.calls.update({each.call.id: each for each in calls})
        self._unopened = None
        if turn.batch.asks:
            self._rest()

    def _check_verdict(self, judged: Judged) -> None:
        approved = [*self.approvals.values(), *self.beyond]
        here = [each for each in approved if each.project in (None, self.cwd)]
        verdict = verdict_on(judged.need, self.mode, self.allowed_tools, here)
        by_rule = judged.need.kind == "mcp"  # a rule of the person's own, which the checker does not know
        promise(by_rule or judged.verdict == verdict, f"{judged.need.title}: {judged.verdict} instead of {verdict}")
        if self._open_turn().stopped:
            promise(judged.ask is None, "people are asked after the stop")
        else:
            promise(is_asked_rightly(judged), "something else is asked than what is wanted (D-16)")

    def _open_plan(self, event: AskOpened) -> None:
        self._owned()
        turn = self._open_turn()
        promise(event.turn_id == turn.started.turn_id, "the plan of another turn")
        promise(not turn.stopped, "people are asked after the stop")
        promise(not turn.open_asks() and not turn.open_calls(), "a plan before all is done")
        promise(self._owes_a_plan(turn), "a plan was asked about that nobody owes (A-62)")
        whole = isinstance(event.ask, PlanAsk) and event.ask.call_id is None and event.ask.plan == turn.text
        promise(whole, "the plan is what was said last")
        self._check_ending(turn, event.then)
        turn.plan, turn.then = self._new_ask(event.ask), event.then
        self._rest()

    def _owes_a_plan(self, turn: KnownTurn) -> bool:
        return self.mode == "plan" and not turn.planned and bool(turn.text.strip())

    def _new_ask(self, ask: Ask) -> KnownAsk:
        promise(ask.id not in self.asks, "an ask was opened twice")
        self.asks[ask.id] = KnownAsk(ask)
        return self.asks[ask.id]

    def _answer(self, event: AskAnswered, at: int) -> None:
        turn = self._open_turn()
        asked = self.asks.get(event.ask_id)
        if asked is None:
            raise BrokenPromise("an answer to an ask that is not open")
        promise(asked.decision is None, "an ask was answered twice")
        promise(event.ask_id in turn.open_asks(), "an answer to an ask that is not open")
        promise(not turn.stopped, "an answer counted after the stop")
        promise(fits(asked.ask, event.decision), "an answer counted that does not fit (X-37)")
        if event.by.who == "nobody":
            over = asked.ask.deadline is not None and asked.ask.deadline <= at
            promise(over and isinstance(event.decision, Deny), "silence is never consent (X-05)")
        asked.decision = event.decision
        self._owed = follows_from(event, turn.then if asked is turn.plan else None)

    def _resume(self, event: BatchResumed) -> None:
        batch = self._open_turn().batch
        promise(batch is not None and batch.id == event.batch_id, "another batch was resumed")
        assert batch is not None
        promise(not batch.resumed, "a batch resumed twice (D-03)")
        promise(not self._open_turn().stopped, "a stopped batch was resumed")
        batch.resumed = True

    def _start(self, event: CallStarted, epoch: int) -> None:
        self._owned()
        call = self._next_call(event.call_id)
        turn = self._open_turn()
        promise(call.started is None, "a call started twice (X-25)")
        promise(not turn.open_asks(), "a call started while its batch waits (D-02)")
        promise(not turn.stopped, "a call started after the stop")
        promise(may_run(call.judged, call.decision()), "a call started that nobody allowed")
        call.started = epoch

    def _ask_again(self, event: CallAsked, epoch: int) -> None:
        """It goes back to where it was before it started, and waits for another answer."""
        self._owned()
        call, turn = self._next_call(event.call_id), self._open_turn()
        assert turn.batch is not None
        promise(call.started == epoch, "a call asked that this owner had not started (D-11)")
        promise(not turn.stopped, "people are asked after the stop")
        promise((event.ask.call_id, event.ask.need) == (event.call_id, call.judged.need), "another call asked")
        call.started, call.ask = None, self._new_ask(event.ask)
        # From now on only the answer to this ask counts, whatever was the verdict before.
        call.judged = Judged(event.call_id, "ask", call.judged.need, event.ask.reason, event.ask)
        turn.batch.asks.append(call.ask)
        turn.batch.resumed = False
        self._rest()

    def _end(self, event: CallEnded, epoch: int) -> None:
        self._owned()
        call, turn = self._next_call(event.call_id), self._open_turn()
        call.outcome = event.outcome
        if call.started is None:
            self._end_unstarted(call, event.outcome)
        elif call.started < epoch:
            promise(event.outcome == Unknown(), "a lost call ends unknown (X-25)")
        else:
            promise(isinstance(event.outcome, Finished | Failed | Stopped | Unknown), "it had started")
            promise(event.outcome != Stopped(started=False) or turn.stopped, "it had started")

    def _end_unstarted(self, call: KnownCall, outcome: Outcome) -> None:
        """As it was decided, or because the turn ends in the same append."""
        turn = self._open_turn()
        if ends_as_decided(call.judged, call.decision(), outcome):
            return
        self._ends_now = True
        expected = (
            isinstance(outcome, Stopped) and not outcome.started if turn.stopped else isinstance(outcome, Failed)
        )
        promise(expected, "a call that did not run says why")

    def _next_call(self, call_id: CallId) -> KnownCall:
        open_calls = self._open_turn().open_calls()
        promise(bool(open_calls), "a call outside of its batch")
        promise(open_calls[0].call.id == call_id, "calls out of order (D-03)")
        return open_calls[0]

    def _grant(self, event: ApprovalGranted) -> None:
        approval, asked = event.approval, self.asks.get(event.approval.id)
        promise(asked is not None and asked.decision == Allow("session"), "an approval that nobody gave")
        assert asked is not None
        assert isinstance(asked.ask, PermissionAsk)
        need = asked.ask.need
        exact = (approval.tool, approval.command, approval.paths) == (need.tool, need.command, need.paths)
        promise(exact and approval.project is None, "more was approved than asked for")
        self.approvals[approval.id] = approval

    def _end_turn(self, event: TurnEnded) -> None:
        turn = self._open_turn()
        decided = turn.plan is not None and turn.plan.decision is not None
        promise(self.owner is not None or decided, "written by nobody's owner")
        promise(not turn.open_calls(), "a turn ended before every call had its end")
        promise(turn.stopped or not turn.open_asks(), "a turn ended while people were asked (D-06)")
        unasked = event.ending == "done" and turn.plan is None and self._owes_a_plan(turn)
        promise(not unasked, "a plan that nobody was asked about (A-62)")
        self._check_ending(turn, event)
        self._ends_now = False
        self.turn, self.owner, self.last = None, None, event

    def _check_ending(self, turn: KnownTurn, event: TurnEnded) -> None:
        promise(event.turn_id == turn.started.turn_id, "the end of another turn")
        promise((event.ending == "stopped") == turn.stopped, "stopped, if and only if somebody stopped it (X-12)")
        promise((event.steps, event.usage) == (turn.steps, turn.usage), "steps or usage are miscounted")
        promise(event.text == turn.text, "a turn ends with the last that was said")

    def _delete(self) -> None:
        self.deleted, self.owner, self.rested, self.turn, self.last = True, None, None, None, None
        self.queue.clear()
        self.approvals.clear()

    def _rest(self) -> None:
        """Nobody owns a session that waits for people."""
        self.rested, self.owner = self.owner, None

    def _open_turn(self) -> KnownTurn:
        if self.turn is None:
            raise BrokenPromise("outside of a turn")
        return self.turn

    def _owned(self) -> None:
        promise(self.owner is not None, "written by nobody's owner")
