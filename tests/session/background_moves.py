"""Moves of processes that run a background command, whoever owns the session meanwhile."""

from hypothesis import strategies as st

from coderelay.protocol.background_commands import Exited, Gone, StoppedBy
from coderelay.protocol.errors import BadInput
from coderelay.protocol.ids import BackgroundId
from tests.session.played_session import ANNE, BEN
from tests.session.shared_session import Draw, Move, Table


class Processes(Table):
    def processes(self) -> list[Move]:
        if self.state.deleted:
            return []
        moves: list[Move] = []
        if self.having:
            moves += [self.end_a_command, self.lose_a_command, self.obey_a_request]
        if self.state.background:
            moves += [self.stop_a_command] * 2 + [self.end_it_again]
        return moves

    def end_a_command(self, data: Draw) -> None:
        """By itself."""
        number = self._one_that_lives(data)
        self.having.discard(number)
        self.see(self.play.end_background(number, Exited(0)))

    def obey_a_request(self, data: Draw) -> None:
        number = self._one_that_lives(data)
        by = self.state.background[number].stop_by
        if by is not None:
            self.having.discard(number)
            self.see(self.play.end_background(number, StoppedBy(by)))

    def lose_a_command(self, data: Draw) -> None:
        """Its process is killed: nobody says so."""
        self.having.discard(self._one_that_lives(data))

    def stop_a_command(self, data: Draw) -> None:
        """One that runs, one that is over or was asked already, or one that never was. If its process is gone,
        whoever is asked says so."""
        known = [*self.state.background, BackgroundId("77")]
        number = data.draw(st.sampled_from(known))
        by = data.draw(st.sampled_from([ANNE, BEN]))
        if number in self.state.background and number not in self.having:
            self.see(self.play.end_background(number, Gone()))
            return
        try:
            self.see(self.play.stop_background(number, by))
        except BadInput:
            assert number not in self.state.background

    def end_it_again(self, data: Draw) -> None:
        """Somebody who is late."""
        over = [number for number, each in self.state.background.items() if each.end is not None]
        if over:
            self.see(self.play.end_background(data.draw(st.sampled_from(over)), Gone()))

    def _one_that_lives(self, data: Draw) -> BackgroundId:
        return data.draw(st.sampled_from(sorted(self.having)))
