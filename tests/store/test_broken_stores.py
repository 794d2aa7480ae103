"""Broken stores. For every check of the suite there is one that it finds out."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from coderelay.protocol.errors import CoderError, HeadMoved, StoreDamaged, StoreFailed
from coderelay.protocol.events import AnyEvent, PromptAdmitted, Recorded, SessionDeleted, Unrecognised
from coderelay.protocol.ids import SessionId
from coderelay.protocol.projected_rows import MessageRow, Messages, Summary
from coderelay.store.sqlite.store import SqliteStore
from coderelay.store.store import ChangeCursor, Changes, Projection, Store
from coderelay.testing import store_suite as suite
from coderelay.testing.store_suite import CHECKS, Blank, Check, Clock, name, run
from tests.store import broken_key_value_stores as broken
from tests.store.broken_key_value_stores import with_key_value_store

Build = Callable[[str, Projection, Clock], Store]


class Broken(SqliteStore):
    """A sound store, to be broken in one place by each of the following."""

    def __init__(self, path: str, projection: Projection, clock: Clock) -> None:
        super().__init__(path, projection, clock=clock)


class NumbersFromZero(Broken):
    async def append(
        self, session: SessionId, at: int, events: Sequence[AnyEvent], *, epoch: int | None = None
    ) -> list[Recorded]:
        return [replace(r, seq=r.seq - 1) for r in await super().append(session, at, events, epoch=epoch)]


class StaleReader(Broken):
    """Holds a read transaction across awaits."""

    def __init__(self, path: str, projection: Projection, clock: Clock) -> None:
        super().__init__(path, projection, clock)
        self._reader.execute("BEGIN")


class AppendsWithoutComparing(Broken):
    async def append(
        self, session: SessionId, at: int, events: Sequence[AnyEvent], *, epoch: int | None = None
    ) -> list[Recorded]:
        try:
            return await super().append(session, at, events, epoch=epoch)
        except HeadMoved as moved:
            return await self.append(session, moved.head, events, epoch=epoch)


class ForgetsLosers(Broken):
    async def append(
        self, session: SessionId, at: int, events: Sequence[AnyEvent], *, epoch: int | None = None
    ) -> list[Recorded]:
        try:
            return await super().append(session, at, events, epoch=epoch)
        except HeadMoved:
            return []


class WithoutEpochs(Broken):
    async def append(
        self, session: SessionId, at: int, events: Sequence[AnyEvent], *, epoch: int | None = None
    ) -> list[Recorded]:
        return await super().append(session, at, events)


class OnlyForOwners(Broken):
    async def append(
        self, session: SessionId, at: int, events: Sequence[AnyEvent], *, epoch: int | None = None
    ) -> list[Recorded]:
        return await super().append(session, at, events, epoch=epoch or 0)


class TakesNothingForGranted(Broken):
    async def append(
        self, session: SessionId, at: int, events: Sequence[AnyEvent], *, epoch: int | None = None
    ) -> list[Recorded]:
        return await super().append(session, at, events, epoch=epoch) if events else []


class SharesFate(Broken):
    """One append that is refused takes those with it that come at the same time."""

    fate: Exception | None = None

    async def append(
        self, session: SessionId, at: int, events: Sequence[AnyEvent], *, epoch: int | None = None
    ) -> list[Recorded]:
        try:
            recorded = await super().append(session, at, events, epoch=epoch)
        except Exception as error:
            self.fate = error
            raise
        if self.fate is not None:
            raise self.fate
        return recorded


class LosesWhatIsCancelled(Broken):
    async def append(
        self, session: SessionId, at: int, events: Sequence[AnyEvent], *, epoch: int | None = None
    ) -> list[Recorded]:
        await asyncio.sleep(0)
        return await super().append(session, at, events, epoch=epoch)


class KeepsDeleted(Broken):
    async def append(
        self, session: SessionId, at: int, events: Sequence[AnyEvent], *, epoch: int | None = None
    ) -> list[Recorded]:
        gone = Unrecognised("session.hidden", {})
        kept = [gone if isinstance(event, SessionDeleted) else event for event in events]
        return await super().append(session, at, kept, epoch=epoch)


class Rewrites(Broken):
    """Keeps another text than it was given."""

    def rewrite(self, text: str) -> str:
        return text

    async def append(
        self, session: SessionId, at: int, events: Sequence[AnyEvent], *, epoch: int | None = None
    ) -> list[Recorded]:
        kept = [
            replace(event, text=self.rewrite(event.text)) if isinstance(event, PromptAdmitted) else event
            for event in events
        ]
        return await super().append(session, at, kept, epoch=epoch)


class CutsOff(Rewrites):
    def rewrite(self, text: str) -> str:
        return text[:1_000_000]


class DropsNul(Rewrites):
    def rewrite(self, text: str) -> str:
        return text.replace("\0", "")


class TidiesMessages(Broken):
    """Keeps another text of a message that means the same."""

    async def messages(self, session: SessionId) -> Messages:
        found = await super().messages(session)
        return replace(found, rows=[MessageRow(row.id, row.data.strip()) for row in found.rows])


class GuessesCharacters(Rewrites):
    def rewrite(self, text: str) -> str:
        return text.encode(errors="replace").decode()


class OffByOne(Broken):
    async def read(self, session: SessionId, after: int = 0, limit: int = 1000) -> list[Recorded]:
        return await super().read(session, max(0, after - 1), limit)


class ForgetsEpochs(Broken):
    async def read(self, session: SessionId, after: int = 0, limit: int = 1000) -> list[Recorded]:
        return [replace(each, epoch=0) for each in await super().read(session, after, limit)]


class TurnsTimeBack(Broken):
    async def read(self, session: SessionId, after: int = 0, limit: int = 1000) -> list[Recorded]:
        return [replace(each, at=10_000 - each.seq) for each in await super().read(session, after, limit)]


class DropsTheNew(Broken):
    async def read(self, session: SessionId, after: int = 0, limit: int = 1000) -> list[Recorded]:
        page = await super().read(session, after, limit)
        return [each for each in page if not isinstance(each.event, Unrecognised)]


class HidesDamage(Broken):
    async def read(self, session: SessionId, after: int = 0, limit: int = 1000) -> list[Recorded]:
        try:
            return await super().read(session, after, limit)
        except StoreDamaged:
            return []


class NamesWhatIsNotThere(Broken):
    async def heads(self, sessions: Sequence[SessionId]) -> dict[SessionId, int]:
        return {**dict.fromkeys(sessions, 0), **await super().heads(sessions)}


class BelievesClocks(Broken):
    async def sessions(self, *, cwd: str | None = None, limit: int = 100) -> list[Summary]:
        found = await super().sessions(cwd=cwd, limit=limit)
        return sorted(found, key=lambda each: each.updated_at, reverse=True)


class OldestFirst(Broken):
    async def sessions(self, *, cwd: str | None = None, limit: int = 100) -> list[Summary]:
        return (await super().sessions(cwd=cwd, limit=limit))[::-1]


class AllOfThemWait(Broken):
    async def waiting(self) -> list[Summary]:
        return await self.sessions()


class NamesAreWords(Broken):
    async def named(self, beginning: str) -> list[Summary]:
        return [each for each in await super().named(beginning) if each.id == beginning]


class OneIdForAll(Broken):
    async def messages(self, session: SessionId) -> Messages:
        found, first = await super().messages(session), min(each.id for each in await self.sessions())
        return replace(found, rows=[row for row in found.rows if session == first or row.id != "p"])


class EndsTooEarly(Broken):
    """A follower would get the last message a second time."""

    async def messages(self, session: SessionId) -> Messages:
        found = await super().messages(session)
        return replace(found, seq=max(found.seq - 1, 0))


class StandingCounter(Broken):
    def change_counter(self) -> int:
        return 1


class RestlessCounter(Broken):
    calls = 0

    def change_counter(self) -> int:
        self.calls += 1
        return self.calls


class RepeatsChanges(Broken):
    async def changed(self, cursor: ChangeCursor | None) -> Changes:
        changes = await super().changed(cursor)
        return changes if cursor is None else Changes(cursor, changes.heads)


class SeesItsOwnChangesOnly(Broken):
    def __init__(self, path: str, projection: Projection, clock: Clock) -> None:
        super().__init__(path, projection, clock)
        self._mine: set[SessionId] = set()

    async def append(
        self, session: SessionId, at: int, events: Sequence[AnyEvent], *, epoch: int | None = None
    ) -> list[Recorded]:
        self._mine.add(session)
        return await super().append(session, at, events, epoch=epoch)

    async def changed(self, cursor: ChangeCursor | None) -> Changes:
        changes = await super().changed(cursor)
        return Changes(changes.cursor, {name: head for name, head in changes.heads.items() if name in self._mine})


class MissesTheFirstChange(Broken):
    async def changed(self, cursor: ChangeCursor | None) -> Changes:
        return await super().changed(None if cursor is None or cursor.number == 0 else cursor)


class ForgetsTheDeleted(Broken):
    async def all_heads(self) -> dict[SessionId, int]:
        return {each.id: each.head for each in await self.sessions()}


class FoldersByName(Broken):
    async def recent_folders(self, limit: int) -> list[str]:
        return sorted(await super().recent_folders(limit))


class NeverRebuilds(Broken):
    async def rebuild(self) -> None:
        pass


class TakesWhatItCannotKeep(Broken):
    async def append(
        self, session: SessionId, at: int, events: Sequence[AnyEvent], *, epoch: int | None = None
    ) -> list[Recorded]:
        try:
            return await super().append(session, at, events, epoch=epoch)
        except StoreFailed:
            return []


class Forgiving:
    """What a store does that writes its rows in a transaction of their own."""

    def __init__(self, rows: Projection) -> None:
        self._rows = rows

    def summary(self, row: Summary | None, recorded: Recorded) -> Summary | None:
        return self._rows.summary(row, recorded)

    def messages(self, recorded: Recorded) -> Sequence[MessageRow]:
        try:
            return self._rows.messages(recorded)
        except Exception:  # noqa: BLE001 - that is what is wrong with it
            return []


def without_rows(path: str, projection: Projection, clock: Clock) -> Store:
    return Broken(path, Blank(), clock)


def rows_apart(path: str, projection: Projection, clock: Clock) -> Store:
    return Broken(path, Forgiving(projection), clock)


FOUND_OUT: list[tuple[Build, Check]] = [
    (NumbersFromZero, suite.events_are_numbered_from_one),
    (StaleReader, suite.an_append_is_seen_by_everyone_at_once),
    (AppendsWithoutComparing, suite.a_moved_head_changes_nothing),
    (AppendsWithoutComparing, suite.of_racing_appends_exactly_one_wins),
    (AppendsWithoutComparing, suite.an_append_that_another_overtook_changes_nothing),
    (ForgetsLosers, suite.a_moved_head_changes_nothing),
    (ForgetsLosers, suite.racing_appends_that_try_again_all_get_in),
    (WithoutEpochs, suite.a_wrong_epoch_changes_nothing),
    (ForgetsEpochs, suite.a_claim_raises_the_epoch_for_itself_and_what_follows),
    (OnlyForOwners, suite.whoever_owns_nothing_writes_under_any_epoch),
    (TakesNothingForGranted, suite.nothing_to_append_writes_nothing),
    (SharesFate, suite.refused_appends_leave_their_company_alone),
    (LosesWhatIsCancelled, suite.a_cancelled_append_is_carried_out_whole),
    (OffByOne, suite.reading_starts_at_any_cursor),
    (NamesWhatIsNotThere, suite.heads_name_only_sessions_that_are_there),
    (StandingCounter, suite.the_change_counter_moves_with_appends_only),
    (RestlessCounter, suite.the_change_counter_moves_with_appends_only),
    (RepeatsChanges, suite.changes_are_named_once_to_everyone),
    (SeesItsOwnChangesOnly, suite.changes_are_named_once_to_everyone),
    (MissesTheFirstChange, suite.an_empty_log_changes_with_its_first_event),
    (ForgetsTheDeleted, suite.the_heads_of_all_logs_include_the_deleted),
    (TurnsTimeBack, suite.time_never_runs_backwards_within_a_session),
    (without_rows, suite.rows_follow_from_the_events),
    (rows_apart, suite.events_and_their_rows_are_one_transaction),
    (FoldersByName, suite.folders_are_ordered_by_their_newest_session),
    (AllOfThemWait, suite.sessions_that_wait_are_found_among_the_others),
    (NamesAreWords, suite.sessions_are_found_by_the_beginning_of_their_ids),
    (OldestFirst, suite.the_newest_change_comes_first),
    (BelievesClocks, suite.the_newest_change_comes_first),
    (OneIdForAll, suite.a_message_id_counts_once_in_each_session),
    (EndsTooEarly, suite.messages_end_at_the_head_of_the_same_moment),
    (KeepsDeleted, suite.deletion_erases_all_but_itself),
    (NeverRebuilds, suite.rows_are_written_again_from_the_events),
    (DropsTheNew, suite.events_of_a_newer_version_are_kept_as_they_are),
    (HidesDamage, suite.an_event_that_cannot_be_read_is_named),
    (CutsOff, suite.large_events_are_kept_whole),
    (DropsNul, suite.all_of_unicode_is_kept),
    (TidiesMessages, suite.messages_of_other_programs_are_kept_byte_for_byte),
    (GuessesCharacters, suite.half_a_character_is_refused),
    (TakesWhatItCannotKeep, suite.closing_finishes_what_was_begun_and_then_takes_nothing),
    (
        with_key_value_store(broken.IsOneForAll),
        suite.what_is_written_is_kept_for_every_process,
    ),
    (
        with_key_value_store(broken.WritesOneByOne),
        suite.a_write_of_values_counts_as_a_whole_or_not_at_all,
    ),
    (with_key_value_store(broken.OnlyCountsPresence), suite.an_erased_entry_made_anew_has_no_old_version),
    (with_key_value_store(broken.ComparesNothing), suite.of_racing_writes_to_an_entry_exactly_one_wins),
    (
        with_key_value_store(broken.ErasesWhateverItsAge),
        suite.entries_are_listed_and_erased_by_their_beginnings,
    ),
    (
        with_key_value_store(broken.AppendsToALog),
        suite.values_and_logs_have_nothing_to_do_with_each_other,
    ),
    (with_key_value_store(broken.TakesAnyKey), suite.a_key_that_is_no_text_is_refused),
]


@pytest.mark.parametrize(("build", "check"), FOUND_OUT, ids=lambda each: getattr(each, "__name__", ""))
def test_a_broken_store_is_found_out(build: Build, check: Check, tmp_path: Path) -> None:
    with pytest.raises((AssertionError, CoderError)):
        run(check, _opener(build, tmp_path))


def test_every_check_can_fail() -> None:
    assert {name(check) for _, check in FOUND_OUT} == {name(check) for check in CHECKS}


def _opener(build: Build, folder: Path) -> suite.Opener:
    async def open_store(projection: Projection, clock: Clock) -> Store:
        return build(str(folder / "sessions.db"), projection, clock)

    return open_store
