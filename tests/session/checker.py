"""What a log may say, written down a second time with none of the code under test.

Reads the log page by page (a page is one append) and raises BrokenPromise at the first event that a
promise forbids. What it remembers is enough to say what is due next, to compare with `next_action`.
"""

from collections.abc import Sequence

from msgspec import Struct, field

from coderelay.protocol.asks import Allow, Decision, Deny
from coderelay.protocol.calls import Call, Denied, Failed, Finished, Outcome, Stopped, Unknown
from coderelay.protocol.content import Text, Usage
from coderelay.protocol.events import (
    AskAnswered,
    BatchOpened,
    BatchResumed,
    CallEnded,
    CallStarted,
    Judged,
    MessageAdded,
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
from coderelay.protocol.ids import AskId, CallId, MessageId, OwnerId, PromptId
from coderelay.protocol.summary import Phase
from coderelay.session.next_action import Action, AskModel, EndTurn, Rest, RunCall, StartTurn, Wait
from coderelay.session.transcript import AssistantMessage, Message, ToolMessage, UserMessage


class BrokenPromise(AssertionError):
    pass


class _Call(Struct):
    call: Call
    judged: Judged
    started: int | None = None
    outcome: Outcome | None = None


class _Batch(Struct):
    id: MessageId
    calls: list[_Call]
    answers: dict[AskId, Decision | None]
    resumed: bool = False

    def open_asks(self) -> list[AskId]:
        return [ask for ask, decision in self.answers.items() if decision is None]


class _Turn(Struct):
    started: TurnStarted
    steps: int = 0
    usage: Usage = Usage()
    text: str = ""
    stopped: bool = False
    batch: _Batch | None = None

    def open_calls(self) -> list[_Call]:
        return [each for each in self.batch.calls if each.outcome is None] if self.batch else []

    def open_asks(self) -> list[AskId]:
        return self.batch.open_asks() if self.batch else []


class Checker(Struct):
    head: int = 0
    epoch: int = 0
    deleted: bool = False
    owner: OwnerId | None = None
    admitted: set[PromptId] = field(default_factory=set[PromptId])
    queue: list[PromptAdmitted] = field(default_factory=list[PromptAdmitted])
    sent_since_stop: bool = True
    turn: _Turn | None = None
    last: TurnEnded | None = None
    calls: dict[CallId, _Call] = field(default_factory=dict[CallId, _Call])
    prompts: list[str] = field(default_factory=list[str])
    _unopened: MessageAdded | None = None
    _ends_now: bool = False

    def see(self, page: Sequence[Recorded]) -> None:
        """One append: it keeps every promise event by event, and leaves nothing half said."""
        for recorded in page:
            self._place(recorded)
            self._read(recorded)
        _promise(self._unopened is None, "a message with calls has no batch")
        _promise(not self._ends_now, "a call was passed over")
        batch = self.turn.batch if self.turn else None
        if batch is not None:
            answers = list(batch.answers.values())
            due = bool(answers) and all(isinstance(each, Allow | Deny) for each in answers)
            _promise(batch.resumed == due, "resumed too early or not at all (D-03)")

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

    def _place(self, recorded: Recorded) -> None:
        _promise(not self.deleted, "something follows session.deleted")
        _promise(recorded.seq == self.head + 1, "the numbers have holes")
        first = isinstance(recorded.event, SessionCreated)
        _promise(first == (recorded.seq == 1), "session.created is not the first event, or not the only one")
        raised = 1 if isinstance(recorded.event, SessionClaimed) else 0
        _promise(recorded.epoch == self.epoch + raised, "the epoch rises with a claim and only then")
        _promise(
            self._unopened is None or isinstance(recorded.event, BatchOpened),
            "a batch must follow its message at once",
        )
        self.head, self.epoch = recorded.seq, recorded.epoch

    def _read(self, recorded: Recorded) -> None:
        match recorded.event:
            case PromptAdmitted() as event:
                _promise(event.prompt_id not in self.admitted, "a prompt was admitted twice")
                self.admitted.add(event.prompt_id)
                self.queue.append(event)
                self.sent_since_stop = True
            case SessionClaimed() as event:
                _promise(not isinstance(self.due(), Rest | Wait), "claimed while nothing is to do (D-06)")
                self.owner = event.owner
            case TurnStarted() as event:
                self._start_turn(event)
            case MessageAdded() as event:
                self._add(event)
            case BatchOpened() as event:
                self._open(event)
            case AskAnswered() as event:
                self._answer(event)
            case BatchResumed() as event:
                self._resume(event)
            case CallStarted() as event:
                self._start(event, recorded.epoch)
            case CallEnded() as event:
                self._end(event, recorded.epoch)
            case PromptRecalled() as event:
                left = [each for each in self.queue if each.prompt_id != event.prompt_id]
                _promise(len(left) == len(self.queue) - 1, "a prompt was recalled that did not wait")
                self.queue = left
            case StopRequested():
                self._stop()
            case TurnEnded() as event:
                self._end_turn(event)
            case SessionDeleted():
                self._delete()
            case SessionCreated() | SessionConfigured() | Unrecognised():
                pass

    def _stop(self) -> None:
        if self.turn is None:
            _promise(bool(self.queue) and self.sent_since_stop, "a stop where nothing is about to run")
        else:
            _promise(not self.turn.stopped, "a turn is stopped once")
            self.turn.stopped = True
        self.sent_since_stop = False

    def _start_turn(self, event: TurnStarted) -> None:
        self._owned()
        _promise(self.turn is None, "two turns at once")
        _promise(self.sent_since_stop, "a queued prompt started after a stop (X-12)")
        _promise(bool(self.queue), "a turn without a prompt")
        prompt = self.queue.pop(0)
        _promise((event.prompt_id, event.text) == (prompt.prompt_id, prompt.text), "prompts ran out of order")
        self.turn = _Turn(event)
        self.prompts.append(event.text)

    def _add(self, event: MessageAdded) -> None:
        self._owned()
        turn = self._open_turn()
        _promise(event.turn_id == turn.started.turn_id, "a message of another turn")
        _promise(not turn.open_asks(), "the model went on while people were asked (D-06)")
        _promise(not turn.open_calls(), "the model went on before every call had its end (D-08)")
        _promise(turn.steps < turn.started.max_steps, "more steps than allowed (C-13)")
        turn.steps += 1
        turn.usage = turn.usage.plus(event.usage)
        turn.text = "".join(block.text for block in event.blocks if isinstance(block, Text))
        self._unopened = event if event.calls else None

    def _open(self, event: BatchOpened) -> None:
        message = self._unopened
        if message is None:
            raise BrokenPromise("a batch without its message (D-01)")
        _promise(event.batch_id == message.message_id, "a batch is named after its message (D-01)")
        _promise([j.call_id for j in event.judged] == [c.id for c in message.calls], "not every call was judged")
        calls = [_Call(call, judged) for call, judged in zip(message.calls, event.judged, strict=True)]
        asks = [judged.ask for judged in event.judged if judged.ask is not None]
        self._open_turn().batch = _Batch(event.batch_id, calls, {ask.id: None for ask in asks})
        self.calls.update({each.call.id: each for each in calls})
        self._unopened = None
        if asks:
            self.owner = None

    def _answer(self, event: AskAnswered) -> None:
        turn = self._open_turn()
        batch = turn.batch
        _promise(batch is not None and event.ask_id in batch.answers, "an answer to an ask that is not open")
        assert batch is not None
        _promise(batch.answers[event.ask_id] is None, "an ask was answered twice")
        _promise(not turn.stopped, "an answer counted after the stop")
        batch.answers[event.ask_id] = event.decision

    def _resume(self, event: BatchResumed) -> None:
        batch = self._open_turn().batch
        _promise(batch is not None and batch.id == event.batch_id, "another batch was resumed")
        assert batch is not None
        _promise(not batch.resumed, "a batch resumed twice (D-03)")
        _promise(not self._open_turn().stopped, "a stopped batch was resumed")
        batch.resumed = True

    def _start(self, event: CallStarted, epoch: int) -> None:
        self._owned()
        call = self._next_call(event.call_id)
        turn = self._open_turn()
        _promise(call.started is None, "a call started twice (X-25)")
        _promise(not turn.open_asks(), "a call started while its batch waits (D-02)")
        _promise(not turn.stopped, "a call started after the stop")
        _promise(_may_run(turn, call), "a call started that nobody allowed")
        call.started = epoch

    def _end(self, event: CallEnded, epoch: int) -> None:
        self._owned()
        call = self._next_call(event.call_id)
        call.outcome = event.outcome
        if call.started is None:
            self._end_unstarted(call, event.outcome)
        elif call.started < epoch:
            _promise(event.outcome == Unknown(), "a lost call ends unknown (X-25)")
        else:
            _promise(isinstance(event.outcome, Finished | Failed | Stopped | Unknown), "it had started")
            _promise(event.outcome != Stopped(started=False), "it had started")

    def _end_unstarted(self, call: _Call, outcome: Outcome) -> None:
        """Refused for a reason, or because the turn ends in the same append."""
        turn = self._open_turn()
        if outcome in _refusals(turn, call):
            return
        self._ends_now = True
        expected = (
            isinstance(outcome, Stopped) and not outcome.started if turn.stopped else isinstance(outcome, Failed)
        )
        _promise(expected, "a call that did not run says why")

    def _next_call(self, call_id: CallId) -> _Call:
        open_calls = self._open_turn().open_calls()
        _promise(bool(open_calls), "a call outside of its batch")
        _promise(open_calls[0].call.id == call_id, "calls out of order (D-03)")
        return open_calls[0]

    def _end_turn(self, event: TurnEnded) -> None:
        self._owned()
        turn = self._open_turn()
        _promise(event.turn_id == turn.started.turn_id, "the end of another turn")
        _promise(not turn.open_calls(), "a turn ended before every call had its end")
        _promise((event.ending == "stopped") == turn.stopped, "stopped, if and only if somebody stopped it (X-12)")
        _promise((event.steps, event.usage) == (turn.steps, turn.usage), "steps or usage are miscounted")
        _promise(event.text == turn.text, "a turn ends with the last that was said")
        self._ends_now = False
        self.turn, self.owner, self.last = None, None, event

    def _delete(self) -> None:
        self.deleted, self.owner, self.turn, self.last = True, None, None, None
        self.queue.clear()

    def _open_turn(self) -> _Turn:
        if self.turn is None:
            raise BrokenPromise("outside of a turn")
        return self.turn

    def _owned(self) -> None:
        _promise(self.owner is not None, "written by nobody's owner")


def _may_run(turn: _Turn, call: _Call) -> bool:
    verdict = call.judged.verdict
    return call.judged.need.problem is None and (verdict == "allow" or _answer_of(turn, call) == Allow())


def _refusals(turn: _Turn, call: _Call) -> list[Outcome]:
    """How a call that must not run may end: with the reason that was given, if one was."""
    judged, answer = call.judged, _answer_of(turn, call)
    if judged.need.problem is not None:
        return [Failed(judged.need.problem)]
    if judged.verdict == "deny":
        return [Denied(judged.reason)]
    return [Denied(answer.message or "the person did not allow it")] if isinstance(answer, Deny) else []


def _answer_of(turn: _Turn, call: _Call) -> Decision | None:
    ask = call.judged.ask
    return None if ask is None or turn.batch is None else turn.batch.answers[ask.id]


def check_transcript(messages: Sequence[Message], checker: Checker) -> None:
    """A history every provider accepts, in which nothing that happened is missing."""
    _promise(isinstance(messages[0], UserMessage), "the person speaks first")
    owed: list[Call] = []
    before: Message | None = None
    for message in messages:
        if isinstance(message, ToolMessage):
            _promise(bool(owed), "a result nobody asked for")
            call = owed.pop(0)
            _promise((message.call_id, message.name) == (call.id, call.name), "results out of order")
            _promise(bool(message.text), "an empty result")
        else:
            _promise(not owed, "a call without its result")
            _promise(type(message) is not type(before), f"two of {type(message).__name__} in a row")
        if isinstance(message, AssistantMessage):
            owed = list(message.calls)
        before = message
    _promise(not owed, "a call without its result")
    results = [message.call_id for message in messages if isinstance(message, ToolMessage)]
    _promise(results == list(checker.calls), "calls are missing or strange")
    said = "\n\n".join(message.text for message in messages if isinstance(message, UserMessage))
    _promise(said == "\n\n".join(checker.prompts), "prompts are missing or strange (C-03)")


def _promise(kept: bool, otherwise: str) -> None:
    if not kept:
        raise BrokenPromise(otherwise)
