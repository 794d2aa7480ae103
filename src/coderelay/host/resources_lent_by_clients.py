"""What clients lend to sessions of this process (files, folders, MCP servers), and the asks about using it."""

import os
from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from coderelay.client.client import NOTHING_LENT, Lent, LentServer
from coderelay.protocol.asks import OfferAsk
from coderelay.protocol.ids import SessionId, new_ask_id
from coderelay.protocol.query_results import ServerRow
from coderelay.session.state import State


class ServerDescription(Struct, frozen=True):
    """The fingerprint of a server, and what people are shown of it, which has no secrets."""

    mark: str
    shown: str


class ResourcesLentByClients:
    """`describe` describes a server that would be started in a folder. `ended` is called when the last client of a
    session has taken back what it lent. `state_of` is the state of a session that is at work in this process."""

    def __init__(
        self,
        describe: Callable[[LentServer, str], ServerDescription],
        ended: Callable[[SessionId], None],
        state_of: Callable[[SessionId], State | None],
    ) -> None:
        self._describe = describe
        self._ended = ended
        self._state_of = state_of
        self._lent: dict[SessionId, list[Lent]] = {}

    def lend(self, session: SessionId, lent: Lent) -> Callable[[], None]:
        """Lend something until the returned function is called. If several clients lend something to a session, what
        the last one lends is used."""
        self._lent.setdefault(session, []).append(lent)

        def take_back() -> None:
            left = [each for each in self._lent.get(session, []) if each is not lent]
            if left:
                self._lent[session] = left
            elif self._lent.pop(session, None) is not None:
                self._ended(session)

        return take_back

    def of(self, session: SessionId) -> Lent:
        return self._lent[session][-1] if session in self._lent else NOTHING_LENT

    def servers(self, state: State) -> dict[str, LentServer]:
        """The servers that people have accepted in this session, or in the one that it is a subagent of."""
        lender = self._lender(state)
        if lender is None or lender.settings is None or not lender.offers:
            return {}
        cwd, lent = lender.settings.cwd, self.of(lender.session)
        return {
            name: server
            for name, server in lent.servers.items()
            if lender.offers.get(self._describe(server, cwd).mark)
        }

    def rows(self, state: State) -> list[ServerRow]:
        """The servers that a client offers, and that nobody has accepted."""
        lender = self._lender(state)
        if lender is None or lender.settings is None:
            return []
        offered = self.of(lender.session).servers
        described = {name: self._describe(server, lender.settings.cwd) for name, server in offered.items()}
        return [
            ServerRow(name, each.shown, "refused" if each.mark in lender.offers else "offered")
            for name, each in described.items()
            if not lender.offers.get(each.mark)
        ]

    def _lender(self, state: State) -> State | None:
        """The session that clients lend to: this one, or the one that it is a subagent of."""
        if state.settings is None or state.settings.parent is None:
            return state
        return self._state_of(state.settings.parent)

    def ask(self, state: State) -> OfferAsk | None:
        """What people must decide before the next step, if there is anything."""
        lent, settings = self.of(state.session), state.settings
        if lent is NOTHING_LENT or settings is None:
            return None
        for folder in lent.folders:
            is_used = any(_is_in(folder, each) for each in (settings.cwd, *settings.folders))
            if not is_used and folder not in state.offers:
                return _ask(state, "folder", folder, folder, folder)
        for name, server in lent.servers.items():
            described = self._describe(server, settings.cwd)
            if described.mark not in state.offers:
                return _ask(state, "server", name, described.mark, described.shown)
        return None


def _ask(state: State, what: Literal["server", "folder"], name: str, mark: str, shown: str) -> OfferAsk:
    return OfferAsk(new_ask_id(state.session), what=what, name=name, mark=mark, shown=shown)


def _is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(f"{folder.rstrip(os.sep)}{os.sep}")
