"""The table of programs: one record for each, and no record that contradicts itself."""

import pytest

from coderelay.policy.shell.programs.program_table import ALL_TABLES, PROGRAMS, find_program

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


def test_what_destroys_a_machine_is_in_the_record_of_its_program() -> None:
    known = {"rm", "shred", "dd", "mkfs", "wipefs", "chmod", "chown", "chgrp", "find"}
    assert {name for name, each in PROGRAMS.items() if each.find_destruction is not None} == known
    uses = (
        "rm -rf /", "rm --no-preserve-root x", "shred -r ~", "shred /dev/sda", "dd if=x of=/dev/nvme0n1",
        "mkfs.ext4 /dev/sda1", "/sbin/mkfs /dev/vda", "wipefs -a /dev/sdb", "chmod -R 777 /", "chown -R me /usr",
        "chgrp --recursive me /home", "find / -delete",
    )  # fmt: skip
    for use in uses:
        find = find_program(use.split()[0]).find_destruction
        assert find is not None, use
        assert find(use.split()[1:]), use
        assert not find(["src"]), use


def test_what_is_known_of_subcommands_is_in_the_record_of_the_program() -> None:
    git = PROGRAMS["git"]
    shown = ("diff", "log -p", "show HEAD -- a b", "grep --untracked x", "log --oneline", "-C x diff", "status")
    assert git.shown_paths is not None
    assert [git.shown_paths(each.split()) for each in shown] == [
        (["."], False), (["."], False), (["a", "b"], False), (["."], True), ([], False), (["."], False), ([], False),
    ]  # fmt: skip
    assert "commit" in (git.messages or ())
    assert [name for name, each in PROGRAMS.items() if each.joins_subcommand] == ["git"]
    assert [name for name, each in PROGRAMS.items() if each.modules] == ["python", "python3"]
    assert [name for name, each in PROGRAMS.items() if each.remote_operand] == ["rsync"]
