"""Moves of agents that hand in the messages of their programs: first the message, then what stands in it."""

from hypothesis import strategies as st

from coderelay.protocol.events import MessageKept
from tests.session.blocking_agent_moves import BlockingMachine
from tests.session.generated_values import BLOCKS, CALLS, OUTCOMES
from tests.session.proposed_calls import Proposed
from tests.session.shared_session import Draw, Move, Owner


class VerbatimMachine(BlockingMachine):
    """The machine of agents that block with these moves. It is apart, so that the recorded failures of the other one
    still fit. `emitted` are the messages so far, of which the agent may repeat some."""

    def __init__(self) -> None:
        super().__init__()
        self.emitted: list[MessageKept] = []

    def owners(self) -> list[Move]:
        moves = super().owners()
        if self._blocking():
            moves += [self.emit_a_call] * 15 + [self.emit_words] * 5 + [self.emit_the_result] * 3
            moves += [self.emit_an_end] * (15 if self._running() else 0)
            moves += [self.emit_again] * (4 if self.emitted else 0)
        return moves

    def emit_a_call(self, data: Draw) -> None:
        owner, name = self._draw_blocking_owner(data), self.play.new("c")
        proposed = data.draw(st.sampled_from(CALLS))(name)
        self._emit(owner, self.play.new("m"), calls=(name,))
        if data.draw(st.integers(0, 5)) < 5 and self._may_go_on(owner):
            self._write(owner, lambda: self.play.propose(proposed, epoch=owner.epoch))

    def emit_an_end(self, data: Draw) -> None:
        """Its process may die before the end is written."""
        owner = self._draw_blocking_owner(data)
        known, outcome = data.draw(st.sampled_from(self._running())), data.draw(st.sampled_from(OUTCOMES))
        self._emit(owner, self.play.new("m"), results=(known.call.id,))
        if data.draw(st.integers(0, 5)) < 5 and self._mine(owner):
            told = Proposed(known.call.id, known.judged.need)
            self._write(owner, lambda: self.play.hear(told, outcome, epoch=owner.epoch))

    def emit_words(self, data: Draw) -> None:
        owner, name = self._draw_blocking_owner(data), self.play.new("m")
        blocks = data.draw(st.sampled_from(BLOCKS))
        self._emit(owner, name)
        if data.draw(st.integers(0, 5)) < 5 and self._may_go_on(owner):
            self._write(owner, lambda: self.play.message(blocks=blocks, final=False, name=name, epoch=owner.epoch))

    def emit_the_result(self, data: Draw) -> None:
        """After it, the turn ends, or the process dies."""
        owner = self._draw_blocking_owner(data)
        self._emit(owner, self.play.new("m"), is_last=True)
        if data.draw(st.integers(0, 5)) < 5 and self._may_go_on(owner):
            self._write(owner, lambda: self.play.message(final=True, epoch=owner.epoch))
        self.living.pop(owner.id, None)

    def emit_again(self, data: Draw) -> None:
        """One of the last; of this turn, it is not written again."""
        owner, again = self._draw_blocking_owner(data), data.draw(st.sampled_from(self.emitted[-3:]))
        if self._mine(owner) and again.turn_id == owner.turn:
            head = self.state.head
            self._write(owner, lambda: self.play.keep(again, epoch=owner.epoch))
            assert self.state.head == head

    def _emit(
        self,
        owner: Owner,
        name: str,
        *,
        calls: tuple[str, ...] = (),
        results: tuple[str, ...] = (),
        is_last: bool = False,
    ) -> None:
        if self._mine(owner):
            message = self.play.kept(name, calls=calls, results=results, is_last=is_last)
            self.emitted.append(message)
            self._write(owner, lambda: self.play.keep(message, epoch=owner.epoch))

    def _may_go_on(self, owner: Owner) -> bool:
        return self._mine(owner) and self._go_on_if_steps_are_left(owner)
