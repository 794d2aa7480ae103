"""Persons and owners at one session, in any order that the host allows.

Every step is one move of somebody: a person who sends, stops or answers; an owner that claims, hears its
model, runs a call, fails, leaves, or is gone without a word. After every move the log must be one that
the checker accepts, and everything that is computed from the log must agree.
"""

from collections.abc import Callable

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from msgspec import Struct, field

from coderelay.protocol.asks import By, Decision, Deny
from coderelay.protocol.calls import Outcome, Stopped, Unknown
from coderelay.protocol.codec import decode, encode, kind_of
from coderelay.protocol.commands import AnswerAsk
from coderelay.protocol.content import text_of
from coderelay.protocol.errors import BadInput, Fenced, UnknownApproval, UnknownSession
from coderelay.protocol.events import CallAsked, CallEnded, Mode, PromptAdmitted, Recorded, Unrecognised
from coderelay.protocol.ids import AskId, CallId, OwnerId, TurnId
from coderelay.session import decide
from coderelay.session.next_action import AskModel, EndTurn, RunCall, needs_owner, next_action
from coderelay.session.snapshot import snapshot
from coderelay.session.state import State
from coderelay.session.transcript import AssistantMessage, Transcript, transcript
from tests.session.checker import Checker
from tests.session.choices import BEYOND, BLOCKS, CALLS, IN_PLAN_MODE, MODES, OUTCOMES, TOOLS, fitting, unfitting
from tests.session.history import check_transcript
from tests.session.play import ANNE, BEN, SESSION, Play, Rules
from tests.session.promises import BrokenPromise
from tests.session.row import of_row, of_state

OWNERS = [OwnerId("A"), OwnerId("B"), OwnerId("C")]

Draw = st.DataObject
Move = Callable[[Draw], None]


class Owner(Struct):
    """What a process has in its memory while it drives the session: lost when it dies."""

    id: OwnerId
    epoch: int
    turn: TurnId
    thinking: bool = False
    performing: CallId | None = None
    transcript: Transcript = field(default_factory=Transcript)

    def idle(self) -> bool:
        return not self.thinking and self.performing is None


class SessionMachine(RuleBasedStateMachine):
    played_by: type[Rules] = Rules

    def __init__(self) -> None:
        super().__init__()
        self.play = Play(self.played_by(), beyond=BEYOND)
        self.checker = Checker(beyond=self.play.beyond)
        self.checker.see(self.play.log)
        self.living: dict[OwnerId, Owner] = {}
        self.answered: dict[AskId, tuple[Decision, By]] = {}
        self.commented = False

    @initialize(mode=st.sampled_from(MODES))
    def somebody_chooses_a_mode(self, mode: Mode) -> None:
        self._see(self.play.configure(mode=mode))

    # One rule for all moves: Hypothesis leaves rules out at random, and a turn needs most of them.
    @rule(data=st.data())
    def somebody_moves(self, data: Draw) -> None:
        # What moves the session on stands at both ends: Hypothesis likes the ends best.
        moves = self._owners() + self._persons()
        data.draw(st.sampled_from(moves), label="who")(data)

    @invariant()
    def the_log_is_the_state(self) -> None:
        kept = self.play.kept()
        again = [
            Recorded(each.session, each.seq, each.epoch, each.at, decode(kind_of(each.event), encode(each.event)))
            for each in kept
        ]
        assert again == kept
        assert self.play.read_again(again) == self.state
        assert self.play.read_again(self.play.log) == self.state

    @invariant()
    def the_row_agrees(self) -> None:
        row = self.play.row
        assert (row is None) == self.state.deleted
        if row is not None and of_row(row) != of_state(self.state):
            raise BrokenPromise(f"the row says {of_row(row)}, the state {of_state(self.state)}")

    @invariant()
    def it_can_be_exported_at_any_time(self) -> None:
        if not self.state.deleted:
            assert snapshot(self.state, (), "")["state"] == self.state.phase

    @invariant()
    def what_is_due_comes_next(self) -> None:
        action, due = self.play.rules.next_action(self.state), self.checker.due()
        if action != due:
            raise BrokenPromise(f"next is {action}, due is {due}")
        assert self.state.phase == self.checker.phase()
        assert (self.state.owner, self.state.last_owner) == (self.checker.owner, self.checker.rested)
        if isinstance(action, AskModel):
            self._check_transcript(Transcript())

    @invariant()
    def what_is_asked_is_pending_and_nothing_else(self) -> None:
        assert [ask.id for ask in self.state.open_asks()] == self.checker.open_asks()

    @property
    def state(self) -> State:
        return self.play.state

    def _persons(self) -> list[Move]:
        """What persons can do now; what is listed twice happens more often."""
        if self.state.deleted:
            return [self.speak_to_a_deleted_session]
        moves: list[Move] = [self.delete, self.configure, self.a_newer_version_writes_something, self.stop]
        if any(each.thinking or each.performing for each in self.living.values()):
            moves.append(self.stop)
        if self.checker.admitted:
            moves += [self.send_a_prompt_again, self.recall]
        if self._decided():
            moves.append(self.answer_what_was_decided)
        if self.state.approvals:
            moves.append(self.revoke)
        if asks := self.state.open_asks():
            moves += [self.expire] * 10 if any(ask.deadline is not None for ask in asks) else []
            moves += [self.answer_something_else] * 3 + [self.answer] * 20
        if len(self.state.queue) < 3:
            moves += [self.send_prompt] * (2 if self.state.queue else 8)
        return moves

    def send_prompt(self, data: Draw) -> None:
        max_steps, seconds = (
            data.draw(st.sampled_from([None, None, 1, 2])),
            data.draw(st.sampled_from([60, None, 60])),
        )
        page = self.play.prompt(self.play.new("do "), max_steps=max_steps, answer_within=seconds)
        self._see(page)
        (admitted,) = [each.event for each in page]
        assert isinstance(admitted, PromptAdmitted)
        assert (admitted.max_steps, admitted.answer_within) == (max_steps, seconds)

    def send_a_prompt_again(self, data: Draw) -> None:
        known = data.draw(st.sampled_from(sorted(self.checker.admitted)))
        self._see(self.play.prompt("the same again", known))

    def recall(self, data: Draw) -> None:
        self._see(self.play.recall(data.draw(st.sampled_from(sorted(self.checker.admitted)))))

    def stop(self, data: Draw) -> None:
        self._see(self.play.stop())

    def answer(self, data: Draw) -> None:
        """For more than one call, it is kept where the next one is judged, unless the process dies in between."""
        ask = data.draw(st.sampled_from(self.state.open_asks()))
        decision, by = data.draw(st.sampled_from(fitting(ask))), data.draw(st.sampled_from([ANNE, BEN]))
        page = self.play.decide_on(ask.id, decision, by)
        self._see(page)
        if page:
            self.answered[ask.id] = (decision, by)
            if data.draw(st.integers(0, 5)) < 5:
                self._see(self.play.remember(ask.id, by))

    def answer_something_else(self, data: Draw) -> None:
        """What is no answer to the ask is refused, and the ask stays open."""
        ask = data.draw(st.sampled_from(self.state.open_asks()))
        decision = data.draw(st.sampled_from(unfitting(ask)))
        head, asks = self.state.head, self.state.open_asks()
        try:
            self._see(self.play.decide_on(ask.id, decision))
            raise AssertionError("it counted")
        except BadInput:
            assert (self.state.head, self.state.open_asks()) == (head, asks)

    def expire(self, data: Draw) -> None:
        due = [ask.id for ask in self.state.open_asks() if ask.deadline is not None]
        for page in self.play.expire():
            self._see(page)
        self.answered |= {ask: decided for ask in due if (decided := self._recorded(ask)) is not None}

    def answer_what_was_decided(self, data: Draw) -> None:
        """The loser of a race is told who won, a late click the outcome."""
        ask = data.draw(st.sampled_from(self._decided()))
        known = self.state.asks[ask].ask
        decision = data.draw(st.sampled_from([*fitting(known), *unfitting(known)]))
        self._see(self.play.decide_on(ask, decision, BEN))
        told = decide.recorded_answer(self.state, AnswerAsk(session=SESSION, ask=ask, decision=decision, by=BEN))
        assert told == self.answered.get(ask, (None, None))

    def revoke(self, data: Draw) -> None:
        approval = data.draw(st.sampled_from(sorted(self.state.approvals)))
        self._see(self.play.revoke(approval))
        try:
            self._see(self.play.revoke(approval))
            raise AssertionError("revoked twice")
        except UnknownApproval:
            pass

    def configure(self, data: Draw) -> None:
        mode, title = data.draw(st.sampled_from(MODES)), data.draw(st.sampled_from([None, "", "t"]))
        tools = data.draw(st.sampled_from(TOOLS))
        self._see(self.play.configure(mode=mode, title=title, allowed_tools=tools))

    def a_newer_version_writes_something(self, data: Draw) -> None:
        self._see(self.play.write([Unrecognised("session.painted", {"kind": "session.painted", "colour": "blue"})]))

    def delete(self, data: Draw) -> None:
        if data.draw(st.integers(0, 9)) == 7:
            self._see(self.play.delete())

    def speak_to_a_deleted_session(self, data: Draw) -> None:
        try:
            self._see(self.play.prompt("hello?"))
        except UnknownSession:
            assert self.play.delete() == []
        try:
            self._see(self.play.decide_on(AskId("ask-c1"), Deny()))
        except UnknownSession:
            assert self.state.open_asks() == []

    def _owners(self) -> list[Move]:
        moves: list[Move] = []
        owners = self.living.values()
        if any(each.idle() for each in owners):
            moves += [self.go_on] * 20
        if any(each.thinking for each in owners):
            moves += [self.hear] * 20
        if any(each.performing for each in owners):
            moves += [self.end_call] * 20 + [self.ask_again] * 15
        if owners and self.state.turn is not None and self.state.turn.stop_requested:
            moves += [self.obey_a_stop] * 20
        if needs_owner(self.state) and len(self.living) < len(OWNERS):
            moves += [self.claim] * (1 if self.state.owner in self.living else 20)
        return [*moves, self.fail, self.leave, self.crash] if owners else moves

    def claim(self, data: Draw) -> None:
        """By a process whose predecessor is gone, or stood still for so long that it is taken for gone."""
        owner = data.draw(st.sampled_from([each for each in OWNERS if each not in self.living]))
        self._see(self.play.claim(owner, max_steps=4))
        if self.state.turn is not None:
            self.living[owner] = Owner(owner, self.state.epoch, self.state.turn.started.turn_id)

    def go_on(self, data: Draw) -> None:
        """The loop of an agent: what comes next is decided from the log."""
        owner = self._draw_owner(data, Owner.idle)
        action = self.play.rules.next_action(self.state)
        if not self._mine(owner):
            del self.living[owner.id]
        elif isinstance(action, AskModel):
            self._check_transcript(owner.transcript)
            owner.thinking = True
        elif isinstance(action, RunCall):
            if self._write(owner, lambda: self.play.start_call(action.call_id, epoch=owner.epoch)):
                owner.performing = action.call_id
        else:
            self._settle(owner)

    def hear(self, data: Draw) -> None:
        """A finished message, maybe at the moment of a stop. An agent may also say something and go on."""
        owner = self._draw_owner(data, lambda each: each.thinking)
        owner.thinking = False
        count = data.draw(st.sampled_from([0, 1, 2, 4, 3, 1, 0]))
        calls = IN_PLAN_MODE if self.checker.mode == "plan" else CALLS
        proposed = [data.draw(st.sampled_from(calls))(self.play.new("c")) for _ in range(count)]
        blocks = data.draw(st.sampled_from(BLOCKS))
        final = not proposed and data.draw(st.integers(0, 3)) < 3
        if self._write(owner, lambda: self.play.message(*proposed, blocks=blocks, final=final, epoch=owner.epoch)):
            self.commented = not proposed and (bool(text_of(blocks)) or self.commented)

    def end_call(self, data: Draw) -> None:
        owner = self._draw_owner(data, lambda each: each.performing is not None)
        self._end_call(owner, data.draw(st.sampled_from(OUTCOMES)))

    def ask_again(self, data: Draw) -> None:
        """Before it had any effect, the call finds that it must ask. Unless there was a stop: then it is over."""
        owner = self._draw_owner(data, lambda each: each.performing is not None)
        call, owner.performing = owner.performing, None
        assert call is not None
        if self._write(owner, lambda: self.play.ask_again(call, epoch=owner.epoch)):
            event = self.play.log[-1].event
            assert isinstance(event, CallAsked | CallEnded)
            assert isinstance(event, CallEnded) == (self.state.turn is not None and self.state.turn.stop_requested)

    def obey_a_stop(self, data: Draw) -> None:
        """The agent is cancelled; half an answer that was shown is kept; then the turn is ended."""
        owner = self._draw_owner(data)
        if owner.performing is not None:
            self._end_call(owner, Stopped(started=True))
        elif owner.thinking and data.draw(st.booleans()):
            self._write(owner, lambda: self.play.message(final=False, epoch=owner.epoch))
        self._settle(owner)

    def fail(self, data: Draw) -> None:
        """The provider or the agent failed: the door around the turn ends it."""
        owner = self._draw_owner(data)
        if owner.performing is not None and data.draw(st.booleans()):
            self._end_call(owner, Unknown())
        self._settle(owner)

    def leave(self, data: Draw) -> None:
        """The process ends in good order: what it was doing is told, the turn left to the next."""
        owner = self._draw_owner(data)
        if owner.performing is not None:
            self._end_call(owner, Unknown())
        self.living.pop(owner.id, None)

    def crash(self, data: Draw) -> None:
        del self.living[self._draw_owner(data).id]

    def _draw_owner(self, data: Draw, which: Callable[[Owner], bool] = lambda _: True) -> Owner:
        return data.draw(st.sampled_from([each for each in self.living.values() if which(each)]))

    def _decided(self) -> list[AskId]:
        return sorted(set(self.state.asks) - {ask.id for ask in self.state.open_asks()})

    def _recorded(self, ask: AskId) -> tuple[Decision, By] | None:
        known = self.state.asks[ask]
        return None if known.decision is None or known.by is None else (known.decision, known.by)

    def _see(self, page: list[Recorded]) -> None:
        self.checker.see(page)

    def _write(self, owner: Owner, move: Callable[[], list[Recorded]]) -> bool:
        """A move of an owner; one that is no longer the owner changes nothing and goes."""
        head, turn = self.state.head, self.state.turn
        try:
            if turn is None or turn.started.turn_id != owner.turn:
                raise Fenced(SESSION, owner.epoch, self.state.epoch)
            self._see(move())
        except Fenced:
            assert self.state.head == head
            assert not self._mine(owner)
            del self.living[owner.id]
            return False
        return True

    def _end_call(self, owner: Owner, outcome: Outcome) -> None:
        call, owner.performing = owner.performing, None
        assert call is not None
        self._write(owner, lambda: self.play.end_call(call, outcome, epoch=owner.epoch))

    def _settle(self, owner: Owner) -> None:
        """The agent has returned or raised. A turn that is still this owner's must not stay open."""
        if self._mine(owner):
            match next_action(self.state):
                case EndTurn(stopped=True):
                    self._see(self.play.close("stopped", epoch=owner.epoch))
                case EndTurn():
                    self._see(self.play.close("step_limit", "step limit reached", epoch=owner.epoch))
                case _:
                    self._see(self.play.close("failed", "it failed", epoch=owner.epoch))
        self.living.pop(owner.id, None)

    def _mine(self, owner: Owner) -> bool:
        state = self.state
        return state.owner == owner.id and state.epoch == owner.epoch and state.turn is not None

    def _check_transcript(self, known: Transcript) -> None:
        messages = known.update(self.state)
        assert messages == transcript(self.state)
        check_transcript(messages, self.checker)
        assert self.commented or not isinstance(messages[-1], AssistantMessage)
