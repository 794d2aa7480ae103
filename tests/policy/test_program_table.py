"""The table of programs: one record for each, and no record that contradicts itself."""

import pytest

from coderelay.policy.shell.programs.program_table import ALL_TABLES, PROGRAMS

pytestmark = pytest.mark.quick


def test_no_program_is_declared_in_two_files() -> None:
    names = [name for kind in ALL_TABLES for name in kind]
    assert sorted(names) == sorted(PROGRAMS)


def test_what_is_started_exactly_is_started_at_all() -> None:
    assert [name for name, each in PROGRAMS.items() if each.plain_start and each.command_at is None] == []


def test_no_program_that_starts_others_or_uses_the_network_is_proved_to_read_by_its_options() -> None:
    """Only a recogniser of its own, or one of the `version` options alone, may prove it."""
    assert [
        name
        for name, each in PROGRAMS.items()
        if each.reads is not None
        and (each.command_at is not None or each.danger or each.command_texts or each.interprets)
    ] == []
    assert [name for name, each in PROGRAMS.items() if each.reads is not None and each.network is not None] == []
