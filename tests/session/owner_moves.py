"""Moves of the processes that drive a session, until they end, fail or are gone without a word."""

from collections.abc import Callable, Sequence

from hypothesis import strategies as st

from coderelay.protocol.calls import Finished, Outcome, Stopped, Unknown
from coderelay.protocol.errors import Fenced
from coderelay.protocol.events import CallAsked, CallEnded, Recorded, TreeTaken
from coderelay.protocol.ids import BackgroundId, OwnerId
from coderelay.protocol.message_content import text_of
from coderelay.session.model_messages import AssistantMessage, Transcript, transcript, with_notes
from coderelay.session.next_action import AskModel, Compact, EndTurn, RunCall, needs_owner, next_action
from tests.session.ask_checks import promise
from tests.session.generated_values import BLOCKS, CALLS, COSTS, IN_PLAN_MODE, NOTES, OUTCOMES, READING
from tests.session.model_message_checks import check_continued, check_transcript
from tests.session.played_session import SESSION
from tests.session.shared_session import Draw, Move, Owner, Table

OWNERS = [OwnerId("A"), OwnerId("B"), OwnerId("C")]


class Owners(Table):
    def owners(self) -> list[Move]:
        moves: list[Move] = []
        owners = self.living.values()
        if any(each.is_idle() for each in owners):
            moves += [self.go_on] * 20
        if any(each.thinking for each in owners):
            moves += [self.hear] * 20
        if any(each.summing_up for each in owners):
            moves += [self.sum_up] * 20
        if any(each.performing for each in owners):
            moves += [self.end_calls] * 20 + [self.keep_files] * 3
        if any(len(each.performing) == 1 for each in owners):
            moves += [self.ask_again] * 25 + [self.leave_running] * 8
        if owners and self.state.turn is not None and self.state.turn.stop_requested:
            moves += [self.obey_a_stop] * 20
        if needs_owner(self.state) and len(self.living) < len(OWNERS):
            moves += [self.claim] * (1 if self.state.owner in self.living else 20)
        if owners:
            in_a_group = any(len(each.performing) > 1 for each in owners)
            moves += [self.fail, self.leave, *[self.crash] * (6 if in_a_group else 1)]
        return moves

    def claim(self, data: Draw) -> None:
        """By a process whose predecessor is gone, or stood still for so long that it is taken for gone."""
        owner = data.draw(st.sampled_from([each for each in OWNERS if each not in self.living]))
        gone = [number for number, each in self.state.background.items() if each.end is None]
        gone = [number for number in gone if number not in self.having]
        self.see(self.play.claim(owner, max_steps=4, gone=gone, blocking=self.draw_blocking(data)))
        self._check_background(gone)
        if self.state.turn is not None:
            started = self.state.turn.started
            self.living[owner] = Owner(owner, self.state.epoch, started.turn_id, blocks=started.blocking)

    def draw_blocking(self, data: Draw) -> bool:
        """Whether the agent blocks whose turn may begin now."""
        return False

    def go_on(self, data: Draw) -> None:
        """The loop of an agent: what comes next is decided from the log."""
        owner = self._draw_owner(data, Owner.is_idle)
        action = self.play.rules.next_action(self.state)
        if not self._mine(owner):
            del self.living[owner.id]
        elif isinstance(action, AskModel):
            self._begin_step(owner, data)
        elif isinstance(action, RunCall):
            calls = tuple(each.call.id for each in self.play.rules.together(self.state))
            if self._write(owner, lambda: self.play.start_calls(*calls, epoch=owner.epoch)):
                owner.performing = calls
        elif isinstance(action, Compact):
            owner.summing_up = True
        else:
            self._settle(owner)

    def _begin_step(self, owner: Owner, data: Draw) -> None:
        """One of what comes before a request; the next comes with another move, so that a kill may come between."""
        if any(each.steer for each in self.state.queue):
            self._write(owner, lambda: self.play.take_steering(epoch=owner.epoch))
        elif self._asks_for_money(owner):
            del self.living[owner.id]
        elif data.draw(st.integers(0, 7)) == 5:
            owner.summing_up = True
        else:
            self.check_transcript(owner.transcript)
            owner.thinking, owner.told = True, data.draw(st.sampled_from(NOTES))
            owner.sent = tuple(with_notes(owner.transcript.update(self.state), owner.told))

    def _asks_for_money(self, owner: Owner) -> bool:
        head, budget = self.state.head, self.budget
        if budget is not None:
            self.see(self.play.pause_for_ask(budget, epoch=owner.epoch))
        return self.state.head > head

    def hear(self, data: Draw) -> None:
        """A finished message, maybe at the moment of a stop. An agent may also say something and go on."""
        owner = self._draw_owner(data, lambda each: each.thinking)
        owner.thinking = False
        count = data.draw(st.sampled_from([2, 0, 3, 1, 4, 3, 0]))
        planning = self.checker.mode == "plan"
        calls = data.draw(
            st.sampled_from([IN_PLAN_MODE, READING, IN_PLAN_MODE] if planning else [READING, CALLS, CALLS])
        )
        proposed = [data.draw(st.sampled_from(calls))(self.play.new("c")) for _ in range(count)]
        blocks = data.draw(st.sampled_from(BLOCKS))
        final = not proposed and data.draw(st.integers(0, 3)) < 3
        cost = data.draw(st.sampled_from(COSTS))

        def add() -> list[Recorded]:
            return self.play.message(
                *proposed, blocks=blocks, final=final, notes=owner.told, cost=cost, epoch=owner.epoch
            )

        if self._write(owner, add):
            self.sent = owner.sent
            self.commented = not proposed and (bool(text_of(blocks)) or self.commented)

    def sum_up(self, data: Draw) -> None:
        """Of any part of the history, in mid-turn or in a turn of its own."""
        owner = self._draw_owner(data, lambda each: each.summing_up)
        owner.summing_up = False
        dropped = data.draw(st.integers(0, len(self.state.history)))
        cost = data.draw(st.sampled_from(COSTS))
        if self._write(
            owner, lambda: self.play.compact(self.play.new("so far "), dropped, cost=cost, epoch=owner.epoch)
        ):
            self.sent = ()

    def keep_files(self, data: Draw) -> None:
        """Before the first change, or more of them before another."""
        owner = self._draw_owner(data, lambda each: bool(each.performing))
        tree, problem = data.draw(st.sampled_from([(self.play.new("tree "), ""), ("", "no repository")]))
        taken = TreeTaken(turn_id=owner.turn, tree=tree, problem=problem)
        self._write(owner, lambda: self.play.write([taken], epoch=owner.epoch))

    def end_calls(self, data: Draw) -> None:
        """All that run at the same time, or some of them first."""
        owner = self._draw_owner(data, lambda each: bool(each.performing))
        running = len(owner.performing)
        count = data.draw(st.integers(1, running))
        self._end_calls(owner, [data.draw(st.sampled_from(OUTCOMES)) for _ in range(count)])

    def leave_running(self, data: Draw) -> None:
        """Or look at one that was left."""
        owner = self._draw_owner(data, lambda each: len(each.performing) == 1)
        over = [number for number, each in self.state.background.items() if each.end is not None]
        if over and data.draw(st.booleans()):
            self._end_calls(owner, [Finished("it is over", over=data.draw(st.sampled_from(over)))])
            return
        number, epoch = self.play.rules.next_background(self.state), owner.epoch
        self._end_calls(owner, [Finished("it runs", background=number)])
        if number in self.state.background and self.state.epoch == epoch:
            self.having.add(number)

    def _check_background(self, gone: Sequence[BackgroundId]) -> None:
        """Whoever takes the session writes down which are gone, and of no other."""
        for number, each in self.state.background.items():
            promise(number not in gone or each.end is not None, f"background command {number} is gone, untold (D-17)")
            promise(number not in self.having or each.end is None, f"background command {number} lives (D-17)")

    def ask_again(self, data: Draw) -> None:
        """Before it had any effect, the call finds that it must ask. Unless there was a stop: then it is over."""
        owner = self._draw_owner(data, lambda each: len(each.performing) == 1)
        (call,), owner.performing = owner.performing, ()
        if self._write(owner, lambda: self.play.ask_again(call, epoch=owner.epoch)):
            event = self.play.log[-1].event
            assert isinstance(event, CallAsked | CallEnded)
            assert isinstance(event, CallEnded) == (self.state.turn is not None and self.state.turn.stop_requested)

    def obey_a_stop(self, data: Draw) -> None:
        """The agent is cancelled; half an answer that was shown is kept; then the turn is ended."""
        owner = self._draw_owner(data)
        if owner.performing:
            self._cut_short(owner, Stopped(started=True), data)
        elif owner.thinking and data.draw(st.booleans()):
            kept = self._write(owner, lambda: self.play.message(final=False, notes=owner.told, epoch=owner.epoch))
            self.sent = owner.sent if kept else self.sent
        self._settle(owner)

    def fail(self, data: Draw) -> None:
        """The provider or the agent failed: the door around the turn ends it."""
        owner = self._draw_owner(data)
        if owner.performing and data.draw(st.booleans()):
            self._cut_short(owner, Unknown(), data)
        self._settle(owner)

    def leave(self, data: Draw) -> None:
        """The process ends in good order: what it was doing is told, the turn left to the next."""
        owner = self._draw_owner(data)
        if owner.performing:
            self._cut_short(owner, Unknown(), data)
        self.living.pop(owner.id, None)

    def crash(self, data: Draw) -> None:
        del self.living[self._draw_owner(data).id]

    def _draw_owner(self, data: Draw, which: Callable[[Owner], bool] = lambda _: True) -> Owner:
        return data.draw(st.sampled_from([each for each in self.living.values() if which(each)]))

    def _write(self, owner: Owner, move: Callable[[], list[Recorded]]) -> bool:
        """A move of an owner; one that is no longer the owner changes nothing and goes."""
        head, turn = self.state.head, self.state.turn
        try:
            if turn is None or turn.started.turn_id != owner.turn:
                raise Fenced(SESSION, owner.epoch, self.state.epoch)
            self.see(move())
        except Fenced:
            assert self.state.head == head
            assert not self._mine(owner)
            del self.living[owner.id]
            return False
        return True

    def _cut_short(self, owner: Owner, outcome: Outcome, data: Draw) -> None:
        """Of calls that run at the same time, some may be done."""
        _, *others = owner.performing
        self._end_calls(owner, [*(data.draw(st.sampled_from([outcome, Finished("ok")])) for _ in others), outcome])

    def _end_calls(self, owner: Owner, outcomes: Sequence[Outcome]) -> None:
        ends = [*zip(owner.performing, outcomes, strict=False)]
        owner.performing = owner.performing[len(ends) :]
        self._write(owner, lambda: self.play.end_calls(*ends, epoch=owner.epoch))

    def _settle(self, owner: Owner) -> None:
        """The agent has returned or raised. A turn that is still this owner's must not stay open."""
        if self._mine(owner):
            match next_action(self.state):
                case EndTurn(stopped=True):
                    self.see(self.play.close("stopped", epoch=owner.epoch))
                case EndTurn():
                    self.see(self.play.close("step_limit", "step limit reached", epoch=owner.epoch))
                case _:
                    self.see(self.play.close("failed", "it failed", epoch=owner.epoch))
        self.living.pop(owner.id, None)

    def _mine(self, owner: Owner) -> bool:
        state = self.state
        return state.owner == owner.id and state.epoch == owner.epoch and state.turn is not None

    def check_transcript(self, known: Transcript) -> None:
        messages = known.update(self.state)
        assert messages == transcript(self.state)
        check_transcript(messages, self.checker.told)
        if self.sent:
            check_continued(self.sent, messages)
        assert self.commented or not isinstance(messages[-1], AssistantMessage)
