"""Moves of persons between turns and for the next turn: clear the history, change settings that wait, and say what
happens if nobody answers in time."""

from hypothesis import strategies as st
from hypothesis.stateful import invariant

from coderelay.protocol.asks import Unanswered
from coderelay.protocol.commands import ClearHistory, ConfigureSession
from coderelay.protocol.errors import BadInput
from coderelay.protocol.session_setting_values import Mode
from tests.session.ask_checks import BrokenPromise, promise
from tests.session.generated_values import MODES, TOOLS
from tests.session.played_session import ANNE, FACTS, SESSION
from tests.session.shared_session import Draw, Move
from tests.session.state_machine import SessionMachine

FOLDERS = [None, "/w", "/v"]
UNANSWERED: list[Unanswered] = ["stop", "park", "deny", "park", "stop"]
FREEDOM: list[Mode] = ["plan", "default", "auto-edit", "yolo"]


class SettingsMachine(SessionMachine):
    """The session machine with these moves. It is apart, so that the recorded failures of the other one still fit."""

    def persons(self) -> list[Move]:
        if self.state.deleted:
            return super().persons()
        return [self.clear, self.configure_later, *super().persons(), self.configure_later, self.clear]

    def send_prompt(self, data: Draw) -> None:
        unanswered = data.draw(st.sampled_from(UNANSWERED))
        self.see(self.play.prompt(self.play.new("do "), answer_within=60, unanswered=unanswered))

    def clear(self, data: Draw) -> None:
        try:
            page = self.play.write(self.play.rules.clear(self.state, ClearHistory(session=SESSION, by=ANNE)))
        except BadInput:
            assert self.state.turn is not None
            return
        self.sent = () if page else self.sent
        self.see(page)

    def configure_later(self, data: Draw) -> None:
        command = ConfigureSession(
            session=SESSION,
            by=ANNE,
            mode=data.draw(st.sampled_from(MODES)),
            allowed_tools=data.draw(st.sampled_from(TOOLS)),
            cwd=data.draw(st.sampled_from(FOLDERS)),
            when=data.draw(st.sampled_from(["next_turn", "next_turn", "now"])),
        )
        mode = self.checker.mode
        try:
            page = self.play.write(self.play.rules.configure(self.state, command, FACTS))
        except BadInput:
            assert self.state.turn is not None
            assert command.when == "now"
            return
        self.see(page)
        if self.state.turn is not None and command.when == "next_turn" and command.mode is not None:
            self._check_mode(mode, command.mode)

    def _check_mode(self, before: Mode, wanted: Mode) -> None:
        """What tightens counts at once, and nothing is loosened before the turn ends."""
        is_stricter = FREEDOM.index(wanted) < FREEDOM.index(before)
        promise(not is_stricter or self.checker.mode == wanted, "a stricter mode waits for the next turn (X-20)")
        promise(is_stricter or self.checker.mode == before, "a mode is loosened under a turn (X-20)")

    @invariant()
    def the_settings_in_force_are_those_that_were_chosen(self) -> None:
        settings, checker = self.state.settings, self.checker
        if settings is None:
            return
        known = (settings.cwd, settings.mode, settings.allowed_tools)
        if known != (checker.cwd, checker.mode, checker.allowed_tools):
            raise BrokenPromise(
                f"{known} are in force, {checker.cwd, checker.mode, checker.allowed_tools} were chosen"
            )

    @invariant()
    def what_is_parked_is_not_due_again(self) -> None:
        parked = {ask for ask, known in self.checker.asks.items() if known.parked}
        due = {ask.id for ask in self.play.rules.due_asks(self.state, self.play.now)}
        if again := parked & due:
            raise BrokenPromise(f"{again} are due although they are parked (X-05)")
