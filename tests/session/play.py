"""A session played by hand: persons and owners make their moves as they do through the host, and every
move goes through the pure rules into a log in memory."""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from coderelay.protocol.asks import Ask, By, Decision
from coderelay.protocol.calls import Call, Kind, Need, Outcome, Stopped, Unknown
from coderelay.protocol.commands import (
    AnswerAsk,
    ConfigureSession,
    CreateSession,
    DeleteSession,
    RecallPrompt,
    SendPrompt,
    StopTurn,
)
from coderelay.protocol.content import Block, Text, Usage
from coderelay.protocol.errors import Fenced
from coderelay.protocol.events import (
    AnyEvent,
    CallStarted,
    Ending,
    Judged,
    MessageAdded,
    Mode,
    Recorded,
    SessionClaimed,
    SessionDeleted,
    StopReason,
)
from coderelay.protocol.ids import AskId, CallId, MessageId, OwnerId, PromptId, SessionId, TurnId
from coderelay.protocol.summary import Summary
from coderelay.session import decide, progress
from coderelay.session.fold import apply
from coderelay.session.next_action import Action, next_action
from coderelay.session.state import State
from coderelay.session.summary import summarise

SESSION = SessionId("s")
ANNE = By("anne", "terminal")
BEN = By("ben", "web")
COST = Usage(input_tokens=10, output_tokens=2)


class Rules:
    """The rules a session is played by. A mutant replaces one of them."""

    def send_prompt(self, state: State, command: SendPrompt) -> list[AnyEvent]:
        return decide.send_prompt(state, command)

    def answer(self, state: State, command: AnswerAsk) -> list[AnyEvent]:
        return decide.answer(state, command)

    def stop(self, state: State, command: StopTurn) -> list[AnyEvent]:
        return decide.stop(state, command)

    def claim(self, state: State, claim: progress.Claim) -> list[AnyEvent]:
        return progress.claim(state, claim)

    def after_message(
        self, state: State, message: MessageAdded, judged: tuple[Judged, ...], *, final: bool, now: int
    ) -> list[AnyEvent]:
        return progress.after_message(state, message, judged, final=final, now=now)

    def after_call(self, state: State, call_id: CallId, outcome: Outcome, *, ms: int, go_on: bool) -> list[AnyEvent]:
        return progress.after_call(state, call_id, outcome, ms=ms, go_on=go_on)

    def close_turn(self, state: State, ending: Ending, *, now: int, error: str | None) -> list[AnyEvent]:
        return progress.close_turn(state, ending, now=now, error=error)

    def next_action(self, state: State) -> Action:
        return next_action(state)


class Proposed(Struct, frozen=True):
    """A call of a message, with the verdict it gets."""

    id: CallId
    verdict: Literal["allow", "ask", "deny"] = "allow"
    problem: str | None = None

    def call(self) -> Call:
        return Call(self.id, "bash", '{"command":"make"}')

    def judged(self) -> Judged:
        need = _need(self.problem)
        ask = Ask(ask_of(self.id), self.id, need, "runs a command") if self.verdict == "ask" else None
        return Judged(call_id=self.id, verdict=self.verdict, need=need, reason=f"{self.verdict}: a rule", ask=ask)


def allowed(name: str) -> Proposed:
    return Proposed(CallId(name))


def asked(name: str) -> Proposed:
    return Proposed(CallId(name), "ask")


def denied(name: str) -> Proposed:
    return Proposed(CallId(name), "deny")


def broken(name: str) -> Proposed:
    """A call that cannot run at all."""
    return Proposed(CallId(name), "deny", "bad arguments")


def ask_of(call: str) -> AskId:
    return AskId(f"ask-{call}")


def _need(problem: str | None, kind: Kind = "command") -> Need:
    return Need(tool="bash", kind=kind, title="make", command="make", problem=problem)


class Play:
    """The log, the state and the row that follow from the moves made so far."""

    def __init__(self, rules: Rules | None = None, *, mode: Mode = "default") -> None:
        self.rules = rules or Rules()
        self.log: list[Recorded] = []
        self.state = State(SESSION)
        self.row: Summary | None = None
        self.now = 1000
        self._count = 0
        self.write(decide.create(self.state, CreateSession(session=SESSION, cwd="/w", model="m", mode=mode, by=ANNE)))

    def write(self, events: Sequence[AnyEvent], *, epoch: int | None = None) -> list[Recorded]:
        """Place events as a store does: whole, numbered without holes, refused if the epoch is old."""
        if epoch is not None and epoch != self.state.epoch:
            raise Fenced(SESSION, epoch, self.state.epoch)
        self.now += 5
        page: list[Recorded] = []
        for event in events:
            current = event.epoch if isinstance(event, SessionClaimed) else self.state.epoch
            page.append(Recorded(SESSION, self.state.head + 1, current, self.now, event))
            apply(self.state, page[-1])
            self.row = summarise(self.row, page[-1])
        self.log += page
        return page

    def events(self) -> list[AnyEvent]:
        return [each.event for each in self.log]

    def kept(self) -> list[Recorded]:
        """What a store still has: a deletion erases all that was before it."""
        erased = self.log and isinstance(self.log[-1].event, SessionDeleted)
        return self.log[-1:] if erased else self.log

    def new(self, what: str) -> str:
        self._count += 1
        return f"{what}{self._count}"

    # persons

    def prompt(self, text: str, prompt_id: str | None = None, *, max_steps: int | None = None) -> list[Recorded]:
        name = PromptId(prompt_id or self.new("p"))
        command = SendPrompt(session=SESSION, prompt_id=name, text=text, by=ANNE, max_steps=max_steps)
        return self.write(self.rules.send_prompt(self.state, command))

    def recall(self, prompt_id: str) -> list[Recorded]:
        command = RecallPrompt(session=SESSION, prompt_id=PromptId(prompt_id), by=ANNE)
        return self.write(decide.recall_prompt(self.state, command))

    def stop(self) -> list[Recorded]:
        return self.write(self.rules.stop(self.state, StopTurn(session=SESSION, by=ANNE)))

    def answer(self, call: str, decision: Decision, by: By = ANNE) -> list[Recorded]:
        command = AnswerAsk(session=SESSION, ask=ask_of(call), decision=decision, by=by)
        return self.write(self.rules.answer(self.state, command))

    def configure(self, *, mode: Mode | None = None, title: str | None = None) -> list[Recorded]:
        command = ConfigureSession(session=SESSION, by=ANNE, mode=mode, title=title)
        return self.write(decide.configure(self.state, command))

    def delete(self) -> list[Recorded]:
        return self.write(decide.delete(self.state, DeleteSession(session=SESSION, by=ANNE)))

    # owners

    def claim(self, owner: str = "A", *, max_steps: int = 10) -> list[Recorded]:
        brought = progress.Claim(OwnerId(owner), self.now, TurnId(self.new("t")), max_steps, ("bash",))
        return self.write(self.rules.claim(self.state, brought))

    def message(
        self,
        *proposed: Proposed,
        blocks: tuple[Block, ...] = (Text("well"),),
        final: bool | None = None,
        stop_reason: StopReason = "end_turn",
        epoch: int | None = None,
    ) -> list[Recorded]:
        turn = self.state.turn
        assert turn is not None
        said = MessageAdded(
            message_id=MessageId(self.new("m")),
            turn_id=turn.started.turn_id,
            model="m",
            blocks=blocks,
            calls=tuple(each.call() for each in proposed),
            usage=COST,
            stop_reason=stop_reason,
        )
        judged = tuple(each.judged() for each in proposed)
        ends = not proposed if final is None else final
        return self.write(self.rules.after_message(self.state, said, judged, final=ends, now=self.now), epoch=epoch)

    def start_call(self, call: str, *, epoch: int | None = None) -> list[Recorded]:
        """Nothing to write if the append before has started it, as is usual."""
        known = self.state.calls[CallId(call)]
        if known.started_epoch is not None:
            assert known.started_epoch == self.state.epoch, "started by another owner: never to be run again"
            return []
        return self.write([CallStarted(batch_id=known.batch_id, call_id=known.call.id)], epoch=epoch)

    def end_call(self, call: str, outcome: Outcome, *, epoch: int | None = None) -> list[Recorded]:
        go_on = not isinstance(outcome, Stopped | Unknown)
        return self.write(self.rules.after_call(self.state, CallId(call), outcome, ms=3, go_on=go_on), epoch=epoch)

    def close(self, ending: Ending, error: str | None = None, *, epoch: int | None = None) -> list[Recorded]:
        return self.write(self.rules.close_turn(self.state, ending, now=self.now, error=error), epoch=epoch)
