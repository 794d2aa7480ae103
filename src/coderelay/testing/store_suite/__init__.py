"""A conformance suite for Store implementations: every Store must pass all of these checks.

    @pytest.mark.parametrize("check", CHECKS, ids=name)
    def test_it_is_a_store(check: Check, tmp_path: Path) -> None:
        async def open_store(projection: Projection, clock: Clock) -> Store:
            return MyStore(tmp_path, projection, clock)

        run(check, open_store)

During one check, every call of the opener must open the same log, which is empty at first. Two opened stores stand
for two processes. A check raises AssertionError if the store breaks a promise.
"""

from coderelay.testing.store_suite.appends_and_reads import (
    a_cancelled_append_is_carried_out_whole as a_cancelled_append_is_carried_out_whole,
)
from coderelay.testing.store_suite.appends_and_reads import (
    a_claim_raises_the_epoch_for_itself_and_what_follows as a_claim_raises_the_epoch_for_itself_and_what_follows,
)
from coderelay.testing.store_suite.appends_and_reads import (
    a_moved_head_changes_nothing as a_moved_head_changes_nothing,
)
from coderelay.testing.store_suite.appends_and_reads import (
    a_wrong_epoch_changes_nothing as a_wrong_epoch_changes_nothing,
)
from coderelay.testing.store_suite.appends_and_reads import (
    an_append_is_seen_by_everyone_at_once as an_append_is_seen_by_everyone_at_once,
)
from coderelay.testing.store_suite.appends_and_reads import (
    an_append_that_another_overtook_changes_nothing as an_append_that_another_overtook_changes_nothing,
)
from coderelay.testing.store_suite.appends_and_reads import (
    an_empty_log_changes_with_its_first_event as an_empty_log_changes_with_its_first_event,
)
from coderelay.testing.store_suite.appends_and_reads import (
    changes_are_named_once_to_everyone as changes_are_named_once_to_everyone,
)
from coderelay.testing.store_suite.appends_and_reads import (
    events_are_numbered_from_one as events_are_numbered_from_one,
)
from coderelay.testing.store_suite.appends_and_reads import (
    heads_name_only_sessions_that_are_there as heads_name_only_sessions_that_are_there,
)
from coderelay.testing.store_suite.appends_and_reads import (
    nothing_to_append_writes_nothing as nothing_to_append_writes_nothing,
)
from coderelay.testing.store_suite.appends_and_reads import (
    of_racing_appends_exactly_one_wins as of_racing_appends_exactly_one_wins,
)
from coderelay.testing.store_suite.appends_and_reads import (
    racing_appends_that_try_again_all_get_in as racing_appends_that_try_again_all_get_in,
)
from coderelay.testing.store_suite.appends_and_reads import (
    reading_starts_at_any_cursor as reading_starts_at_any_cursor,
)
from coderelay.testing.store_suite.appends_and_reads import (
    refused_appends_leave_their_company_alone as refused_appends_leave_their_company_alone,
)
from coderelay.testing.store_suite.appends_and_reads import (
    the_change_counter_moves_with_appends_only as the_change_counter_moves_with_appends_only,
)
from coderelay.testing.store_suite.appends_and_reads import (
    the_heads_of_all_logs_include_the_deleted as the_heads_of_all_logs_include_the_deleted,
)
from coderelay.testing.store_suite.appends_and_reads import (
    time_never_runs_backwards_within_a_session as time_never_runs_backwards_within_a_session,
)
from coderelay.testing.store_suite.appends_and_reads import (
    whoever_owns_nothing_writes_under_any_epoch as whoever_owns_nothing_writes_under_any_epoch,
)
from coderelay.testing.store_suite.check_framework import CHECKS as CHECKS
from coderelay.testing.store_suite.check_framework import Check as Check
from coderelay.testing.store_suite.check_framework import Clock as Clock
from coderelay.testing.store_suite.check_framework import Opener as Opener
from coderelay.testing.store_suite.check_framework import name as name
from coderelay.testing.store_suite.check_framework import run as run
from coderelay.testing.store_suite.event_contents import (
    all_of_unicode_is_kept as all_of_unicode_is_kept,
)
from coderelay.testing.store_suite.event_contents import (
    an_event_that_cannot_be_read_is_named as an_event_that_cannot_be_read_is_named,
)
from coderelay.testing.store_suite.event_contents import (
    closing_finishes_what_was_begun_and_then_takes_nothing as closing_finishes_what_was_begun_and_then_takes_nothing,
)
from coderelay.testing.store_suite.event_contents import (
    events_of_a_newer_version_are_kept_as_they_are as events_of_a_newer_version_are_kept_as_they_are,
)
from coderelay.testing.store_suite.event_contents import (
    half_a_character_is_refused as half_a_character_is_refused,
)
from coderelay.testing.store_suite.event_contents import (
    large_events_are_kept_whole as large_events_are_kept_whole,
)
from coderelay.testing.store_suite.event_contents import (
    messages_of_other_programs_are_kept_byte_for_byte as messages_of_other_programs_are_kept_byte_for_byte,
)
from coderelay.testing.store_suite.key_value_storage import (
    a_key_that_is_no_text_is_refused as a_key_that_is_no_text_is_refused,
)
from coderelay.testing.store_suite.key_value_storage import (
    a_write_of_values_counts_as_a_whole_or_not_at_all as a_write_of_values_counts_as_a_whole_or_not_at_all,
)
from coderelay.testing.store_suite.key_value_storage import (
    an_erased_entry_made_anew_has_no_old_version as an_erased_entry_made_anew_has_no_old_version,
)
from coderelay.testing.store_suite.key_value_storage import (
    entries_are_listed_and_erased_by_their_beginnings as entries_are_listed_and_erased_by_their_beginnings,
)
from coderelay.testing.store_suite.key_value_storage import (
    of_racing_writes_to_an_entry_exactly_one_wins as of_racing_writes_to_an_entry_exactly_one_wins,
)
from coderelay.testing.store_suite.key_value_storage import (
    values_and_logs_have_nothing_to_do_with_each_other as values_and_logs_have_nothing_to_do_with_each_other,
)
from coderelay.testing.store_suite.key_value_storage import (
    what_is_written_is_kept_for_every_process as what_is_written_is_kept_for_every_process,
)
from coderelay.testing.store_suite.rows_and_lists import (
    a_message_id_counts_once_in_each_session as a_message_id_counts_once_in_each_session,
)
from coderelay.testing.store_suite.rows_and_lists import (
    deletion_erases_all_but_itself as deletion_erases_all_but_itself,
)
from coderelay.testing.store_suite.rows_and_lists import (
    events_and_their_rows_are_one_transaction as events_and_their_rows_are_one_transaction,
)
from coderelay.testing.store_suite.rows_and_lists import (
    folders_are_ordered_by_their_newest_session as folders_are_ordered_by_their_newest_session,
)
from coderelay.testing.store_suite.rows_and_lists import (
    messages_end_at_the_head_of_the_same_moment as messages_end_at_the_head_of_the_same_moment,
)
from coderelay.testing.store_suite.rows_and_lists import (
    rows_are_written_again_from_the_events as rows_are_written_again_from_the_events,
)
from coderelay.testing.store_suite.rows_and_lists import (
    rows_follow_from_the_events as rows_follow_from_the_events,
)
from coderelay.testing.store_suite.rows_and_lists import (
    sessions_are_found_by_the_beginning_of_their_ids as sessions_are_found_by_the_beginning_of_their_ids,
)
from coderelay.testing.store_suite.rows_and_lists import (
    sessions_that_wait_are_found_among_the_others as sessions_that_wait_are_found_among_the_others,
)
from coderelay.testing.store_suite.rows_and_lists import (
    the_newest_change_comes_first as the_newest_change_comes_first,
)
from coderelay.testing.store_suite.sample_events import BY as BY
from coderelay.testing.store_suite.sample_events import Blank as Blank
from coderelay.testing.store_suite.sample_events import claimed as claimed
from coderelay.testing.store_suite.sample_events import created as created
from coderelay.testing.store_suite.sample_events import everything as everything
from coderelay.testing.store_suite.sample_events import messages_of as messages_of
from coderelay.testing.store_suite.sample_events import prompt as prompt
from coderelay.testing.store_suite.sample_events import refused as refused
from coderelay.testing.store_suite.sample_events import summary_of as summary_of
from coderelay.testing.store_suite.sample_events import turn_started as turn_started
from coderelay.testing.store_suite.sample_events import whole_turn as whole_turn
from coderelay.testing.store_suite.sample_events import write as write
