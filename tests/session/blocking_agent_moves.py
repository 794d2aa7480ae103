"""Moves of agents that block: they propose call by call, hold their asks, and run their calls in their own order."""

from hypothesis import strategies as st

from coderelay.protocol.calls import Failed
from coderelay.protocol.events import AskAnswered, Recorded
from coderelay.protocol.ids import CallId
from coderelay.session import external_agent_calls
from coderelay.session.next_action import EndTurn
from coderelay.session.state import CallState
from tests.session.generated_values import BLOCKS, CALLS, COSTS, IN_PLAN_MODE, OUTCOMES
from tests.session.proposed_calls import Proposed
from tests.session.shared_session import Draw, Move, Owner
from tests.session.state_machine import SessionMachine


class BlockingMachine(SessionMachine):
    """Persons and owners at a session whose agent blocks in most turns. `together` is how answers are released."""

    together: bool = True

    def draw_blocking(self, data: Draw) -> bool:
        self.together = data.draw(st.sampled_from([True, True, False]))
        return data.draw(st.sampled_from([True, False, True, True]))

    def see(self, page: list[Recorded]) -> None:
        """An ask that its agent withdraws is answered by the agent."""
        super().see(page)
        answers = [each.event for each in page if isinstance(each.event, AskAnswered)]
        self.answered |= {
            each.ask_id: (each.decision, each.by) for each in answers if each.by == external_agent_calls.AGENT
        }

    def owners(self) -> list[Move]:
        moves = super().owners()
        if self._blocking():
            moves += [self.propose] * (20 if len(self.state.open_calls()) < 3 else 2)
            moves += [self.say] * 3 + [self.finish] * 3 + [self.make_unasked] * 2
            if self._released():
                moves += [self.be_told] * 20
            if self._running():
                moves += [self.tell_an_end] * 15
            if self._undecided():
                moves += [self.give_up] * 2
            if self.state.open_calls():
                moves += [self.crash] * 4
        return moves

    def propose(self, data: Draw) -> None:
        """And once more, as an agent does that asks about one call from two places: the first counts."""
        owner = self._draw_blocking_owner(data)
        calls = IN_PLAN_MODE if self.checker.mode == "plan" else CALLS
        proposed = data.draw(st.sampled_from(calls))(self.play.new("c"))
        if self._go_on_if_steps_are_left(owner):
            self._write(owner, lambda: self.play.propose(proposed, epoch=owner.epoch))
            if self._mine(owner):
                self._write(owner, lambda: self.play.propose(proposed, epoch=owner.epoch))

    def be_told(self, data: Draw) -> None:
        """The answer counts for the agent: it makes the call, or does not."""
        owner = self._draw_blocking_owner(data)
        call = data.draw(st.sampled_from(self._released()))
        self._write(owner, lambda: self.play.release(call, epoch=owner.epoch))

    def tell_an_end(self, data: Draw) -> None:
        owner = self._draw_blocking_owner(data)
        known = data.draw(st.sampled_from(self._running()))
        outcome = data.draw(st.sampled_from(OUTCOMES))
        self._write(owner, lambda: self.play.hear(_again(known), outcome, epoch=owner.epoch))
        if data.draw(st.integers(0, 5)) == 3 and self._mine(owner):  # and once more: the first counts
            self._write(owner, lambda: self.play.hear(_again(known), Failed("again"), epoch=owner.epoch))

    def make_unasked(self, data: Draw) -> None:
        owner = self._draw_blocking_owner(data)
        made = data.draw(st.sampled_from(CALLS))(self.play.new("c"))
        outcome = data.draw(st.sampled_from(OUTCOMES))
        self._write(owner, lambda: self.play.hear(made, outcome, epoch=owner.epoch))

    def give_up(self, data: Draw) -> None:
        """The agent does not wait for the answer any more."""
        owner = self._draw_blocking_owner(data)
        known = data.draw(st.sampled_from(self._undecided()))
        self._write(owner, lambda: self.play.hear(_again(known), Failed("it took too long"), epoch=owner.epoch))

    def say(self, data: Draw) -> None:
        owner = self._draw_blocking_owner(data)
        blocks, cost = data.draw(st.sampled_from(BLOCKS)), data.draw(st.sampled_from(COSTS))
        if self._go_on_if_steps_are_left(owner):
            self._write(owner, lambda: self.play.message(blocks=blocks, final=False, cost=cost, epoch=owner.epoch))

    def finish(self, data: Draw) -> None:
        """Whatever is still open."""
        owner = self._draw_blocking_owner(data)
        blocks = data.draw(st.sampled_from(BLOCKS))
        if self._go_on_if_steps_are_left(owner):
            self._write(owner, lambda: self.play.message(blocks=blocks, final=True, epoch=owner.epoch))
            self.living.pop(owner.id, None)

    def _go_on_if_steps_are_left(self, owner: Owner) -> bool:
        turn = self.state.turn
        if turn is not None and turn.steps < turn.started.max_steps and not turn.stop_requested:
            return True
        if isinstance(self.play.rules.next_action(self.state), EndTurn):
            self._settle(owner)
        return False

    def _blocking(self) -> list[Owner]:
        return [each for each in self.living.values() if each.blocks]

    def _draw_blocking_owner(self, data: Draw) -> Owner:
        return self._draw_owner(data, lambda each: each.blocks)

    def _released(self) -> list[CallId]:
        held = [each for each in self.state.open_calls() if each.started_epoch is None]
        return [
            each.call.id
            for each in held
            if self.play.rules.is_released(self.state, each.call.id, together=self.together)
        ]

    def _running(self) -> list[CallState]:
        mine = {each.epoch for each in self._blocking()}
        return [each for each in self.state.open_calls() if each.started_epoch in mine]

    def _undecided(self) -> list[CallState]:
        asks = {ask.call_id for ask in self.state.open_asks()}
        return [each for each in self.state.open_calls() if each.call.id in asks]


def _again(known: CallState) -> Proposed:
    return Proposed(known.call.id, known.judged.need)
