"""What persons can do between turns and for the next turn: clear the history, and change settings that wait."""

from hypothesis import strategies as st

from coderelay.protocol.commands import ClearHistory, ConfigureSession
from coderelay.protocol.errors import BadInput
from coderelay.session import decide
from coderelay.session.settings import configure
from tests.session.choices import MODES, TOOLS
from tests.session.machine import SessionMachine
from tests.session.play import ANNE, FACTS, SESSION
from tests.session.table import Draw, Move

FOLDERS = [None, "/w", "/v"]


class SettingsMachine(SessionMachine):
    """The session machine with these moves. It is apart, so that the recorded failures of the other one still fit."""

    def persons(self) -> list[Move]:
        if self.state.deleted:
            return super().persons()
        return [self.clear, self.configure_later, *super().persons(), self.configure_later, self.clear]

    def clear(self, data: Draw) -> None:
        try:
            page = self.play.write(decide.clear(self.state, ClearHistory(session=SESSION, by=ANNE)))
        except BadInput:
            assert self.state.turn is not None
            return
        self.sent = () if page else self.sent
        self.see(page)

    def configure_later(self, data: Draw) -> None:
        """What tightens counts at once, and nothing is loosened before the turn ends."""
        command = ConfigureSession(
            session=SESSION,
            by=ANNE,
            mode=data.draw(st.sampled_from(MODES)),
            allowed_tools=data.draw(st.sampled_from(TOOLS)),
            cwd=data.draw(st.sampled_from(FOLDERS)),
            when=data.draw(st.sampled_from(["next_turn", "next_turn", "now"])),
        )
        try:
            page = self.play.write(configure(self.state, command, FACTS))
        except BadInput:
            assert self.state.turn is not None
            assert command.when == "now"
            return
        self.see(page)
