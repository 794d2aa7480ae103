"""Relays live output (text that is still being written) to and from the other processes on this machine."""

from collections.abc import Collection, Mapping

from coderelay.host.loaded_session import FollowerOfAll, LoadedSession
from coderelay.protocol.ids import SessionId
from coderelay.protocol.live_updates import Live, join
from coderelay.store.live_output_database import EVERY_SESSION, LiveOutputDatabase, LivePiece

_FOLLOW_SECONDS = 1.0
_FOLLOWED_SECONDS = 0.25
_FLUSH_SECONDS = 0.12
_SWEEP_SECONDS = 300.0


class OutgoingLive:
    """The follower of one session that collects live pieces for all followers in other processes."""

    def __init__(self, loaded: LoadedSession) -> None:
        self._loaded = loaded
        self._pieces = list(loaded.live_pieces)

    def wake(self) -> None:
        pass  # other processes read the log themselves

    def fail(self, error: Exception) -> None:
        pass  # other processes find out for themselves

    def show(self, live: Live) -> None:
        self._pieces.append((self._loaded.state.head, live))

    def detach(self) -> None:
        self._loaded.followers.discard(self)

    def take(self) -> list[tuple[SessionId, int, Live]]:
        pieces, self._pieces = join(self._pieces), []
        return [(self._loaded.session, after, live) for after, live in pieces]


class LiveRelay:
    """Sends and receives live pieces; the polling loop of the supervisor calls `tick` again and again. It does
    nothing in the first moments of a process, so that a short run pays nothing for followers that may never come."""

    def __init__(self, file: LiveOutputDatabase, starts_at: float) -> None:
        self._file = file
        self._outgoing: dict[SessionId, OutgoingLive] = {}
        self._followed: Mapping[SessionId, LoadedSession] = {}
        self._follows_all = False
        self._known_followers: set[FollowerOfAll] = set()
        self._number: int | None = None
        self._shown: dict[SessionId, int] = {}
        self._counter = -1
        self._due = {"follow": starts_at, "followed": starts_at, "flush": starts_at, "sweep": starts_at}
        self._starts_at = starts_at

    def tick(
        self,
        followed: Mapping[SessionId, LoadedSession],
        owned: Mapping[SessionId, LoadedSession],
        followers_of_all: Collection[FollowerOfAll],
        now: float,
    ) -> None:
        """`followed` are the sessions that somebody follows here and that do not run here, `owned` those that run
        here. As long as the first is the same object, nothing was added to it."""
        if now < self._starts_at:
            return
        self._known_followers.intersection_update(followers_of_all)
        is_new = followed is not self._followed or bool(followers_of_all) != self._follows_all
        if self._is_due("follow", _FOLLOW_SECONDS, now) or is_new:
            self._follow(followed, bool(followers_of_all), now)
        if (owned or self._outgoing) and self._is_due("followed", _FOLLOWED_SECONDS, now):
            self._attach(owned, self._file.followed(owned, now))
        if self._outgoing and self._is_due("flush", _FLUSH_SECONDS, now):
            pieces = [piece for each in self._outgoing.values() for piece in each.take()]
            if pieces:
                self._file.show(pieces, now)
        if followed or followers_of_all:
            self._take_in(followed, followers_of_all)
        if self._is_due("sweep", _SWEEP_SECONDS, now):
            self._file.sweep(now)

    def close(self) -> None:
        self._file.close()

    def _follow(self, followed: Mapping[SessionId, LoadedSession], follows_all: bool, now: float) -> None:
        if followed or follows_all:
            self._file.follow([*followed, *([EVERY_SESSION] if follows_all else [])], now)
        for session in followed.keys() - self._followed.keys():
            for piece in self._file.current(session, followed[session].live_from):
                self._show(followed, piece)
        self._followed, self._follows_all = followed, follows_all

    def _attach(self, owned: Mapping[SessionId, LoadedSession], followed: set[SessionId]) -> None:
        for session in followed - self._outgoing.keys():
            outgoing = self._outgoing[session] = OutgoingLive(owned[session])
            owned[session].followers.add(outgoing)
        for session in self._outgoing.keys() - followed:
            self._outgoing.pop(session).detach()

    def _take_in(
        self, followed: Mapping[SessionId, LoadedSession], followers_of_all: Collection[FollowerOfAll]
    ) -> None:
        new = set(followers_of_all) - self._known_followers
        counter = self._file.change_counter()
        if counter == self._counter and not new:
            return
        self._counter = counter
        for piece in self._next_pieces():
            self._show(followed, piece)
            for follower in self._known_followers:
                follower.show(piece.session, piece.after, piece.live)
        self._shown.clear()  # from here on, pieces are newer than all that was shown
        if new:
            for piece in self._file.pieces(0):  # a new follower starts with what is being said
                for follower in new if piece.number <= (self._number or 0) else ():
                    follower.show(piece.session, piece.after, piece.live)
        self._known_followers = set(followers_of_all)

    def _next_pieces(self) -> list[LivePiece]:
        if self._number is None or self._file.last() < self._number:  # first time, or the file was deleted
            self._number = self._file.last()
            return []
        pieces = self._file.pieces(self._number)
        self._number = pieces[-1].number if pieces else self._number
        return pieces

    def _show(self, followed: Mapping[SessionId, LoadedSession], piece: LivePiece) -> None:
        """Show a piece once to those that follow its session, unless the log has overtaken it."""
        loaded = followed.get(piece.session)
        if loaded is None or piece.number <= self._shown.get(piece.session, 0):
            return
        self._shown[piece.session] = piece.number
        if piece.after >= loaded.live_from:
            loaded.show(piece.live, from_elsewhere=True)

    def _is_due(self, what: str, every: float, now: float) -> bool:
        if now < self._due[what]:
            return False
        self._due[what] = now + every
        return True
