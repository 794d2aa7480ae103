"""Moves of owners that leave a blocking turn, because nobody answers in time."""

from hypothesis import strategies as st

from coderelay.protocol.asks import Unanswered
from coderelay.protocol.ids import OwnerId
from tests.session.blocking_agent_moves import BlockingMachine
from tests.session.proposed_calls import questions
from tests.session.shared_session import Draw, Move, Owner

UNANSWERED: list[Unanswered] = ["park", "park", "deny"]


class ParkingMachine(BlockingMachine):
    """The machine of agents that block with these moves. It is apart, so that the recorded failures of the other one
    still fit. `leaving` are the owners whose agents have ended and who have not left yet."""

    def __init__(self) -> None:
        super().__init__()
        self.leaving: set[OwnerId] = set()

    def send_prompt(self, data: Draw) -> None:
        unanswered = data.draw(st.sampled_from(UNANSWERED))
        self.see(self.play.prompt(self.play.new("do "), answer_within=60, unanswered=unanswered))

    def owners(self) -> list[Move]:
        moves = super().owners()
        self.leaving &= {*self.living}
        if self._blocking() and not self._undecided():
            moves += [self.wonder] * 40
        if any(ask.deadline is not None and not self.state.asks[ask.id].parked for ask in self.state.open_asks()):
            moves += [self.expire] * 20
        if self._waiting_in_vain():
            moves += [self.end_the_agent] * 40
        if self.leaving:
            moves += [self.park] * 10
        return moves

    def wonder(self, data: Draw) -> None:
        """The agent puts a question, which has a deadline."""
        owner, proposed = self._draw_blocking_owner(data), questions(self.play.new("c"))
        if self._go_on_if_steps_are_left(owner):
            self._write(owner, lambda: self.play.propose(proposed, epoch=owner.epoch))

    def end_the_agent(self, data: Draw) -> None:
        """Whatever comes before its owner has left, comes to an owner without an agent."""
        owner = data.draw(st.sampled_from(self._waiting_in_vain()))
        self.leaving.add(owner.id)
        owner.blocks, owner.thinking = False, True  # it makes no other moves than those below

    def hear(self, data: Draw) -> None:
        owner = self._draw_owner(data, lambda each: each.thinking)
        if owner.id in self.leaving:
            self._park(owner)
            return
        super().hear(data)

    def park(self, data: Draw) -> None:
        self._park(self._draw_owner(data, lambda each: each.id in self.leaving))

    def _park(self, owner: Owner) -> None:
        """If the answers are there already, the owner goes on with another claim."""
        self._write(owner, lambda: self.play.park_turn(epoch=owner.epoch))
        self.leaving.discard(owner.id)
        self.living.pop(owner.id, None)

    def _waiting_in_vain(self) -> list[Owner]:
        mine = [each for each in self._blocking() if self._mine(each)]
        return mine if mine and self.play.rules.may_be_left(self.state, together=self.together) else []
