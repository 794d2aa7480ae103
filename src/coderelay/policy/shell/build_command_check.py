"""Which words of a build or test command are harmless beside its own."""

import re
from collections.abc import Iterable, Sequence

from coderelay.policy.shell.programs.command_folders_and_not_read_only import CommandFolders, NotReadOnly
from coderelay.policy.shell.programs.harmless_option_check import OptionWord, check
from coderelay.policy.shell.programs.program_spec import Build
from coderelay.policy.shell.programs.program_table import PROGRAMS, find_build
from coderelay.policy.shell.programs.read_only_check import recognise_edit
from coderelay.policy.shell.strict_bash_parser import Word
from coderelay.protocol.translatable import say

# Options behind `--`, which cargo passes to the test programs it builds.
_OF_TESTS = {"--nocapture", "--show-output", "--ignored", "--include-ignored", "--exact", "--test-threads=1"}
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*:(?![:\d])\S+", re.IGNORECASE)


def is_build(words: tuple[Word, ...], folders: CommandFolders) -> bool:
    """Whether this command runs tests or a build, and nothing else."""
    found = find_build(tuple(word.text for word in words))
    return found is not None and not found[1].changes and significant_words(words, folders) is not None


def is_known_use(words: Sequence[Word], folders: CommandFolders) -> bool:
    """Whether the tables list this command as a build or as one that changes files, and every word of it is known to
    be harmless."""
    return significant_words(words, folders) is not None


def harmless_rest(words: Sequence[Word], behind: int, folders: CommandFolders) -> bool | None:
    """Whether the words from index `behind` on add nothing that a rule on the words before them did not name. None if
    the program is not a known build. A rule that names no target means all targets."""
    found = find_build(tuple(word.text for word in words))
    if found is None or behind < len(found[0]):
        return None
    name, build = found
    try:
        added = _kept(_checked(words[behind:], name, build, folders), build)
        _check_made_files(words, folders)
    except NotReadOnly:
        return False
    names_no_target = behind == len(name) and build.operands == "targets"
    return not [each for each in added if each.names or not names_no_target]


def significant_words(words: Sequence[Word], folders: CommandFolders) -> tuple[str, ...] | None:
    """The command without the words that make no difference; None if any of its words is not known to be harmless."""
    found = find_build(tuple(word.text for word in words))
    if found is None:
        return None
    name, build = found
    try:
        kept = _kept(_checked(words[len(name) :], name, build, folders), build)
        _check_made_files(words, folders)
    except NotReadOnly:
        return None
    return (*name, *(word for each in kept for word in each.words))


def _kept(given: Iterable[OptionWord], build: Build) -> list[OptionWord]:
    if build.operands == "targets":
        return [
            each
            for each in given
            if not each.names or set(each.names) & set(build.signature_options) or _may_be_target(each)
        ]
    return [each for each in given if set(each.names) & set(build.signature_options)]


def _may_be_target(option: OptionWord) -> bool:
    """Whether the value of an option may be a target: in `make -j install` only a number would be the value of -j."""
    return any(not word.isdecimal() for word in option.words[1:])


def _check_made_files(words: Sequence[Word], folders: CommandFolders) -> None:
    if PROGRAMS[words[0].text].edits is not None:
        recognise_edit(words, folders)


def _checked(
    words: Sequence[Word], name: tuple[str, ...], build: Build, folders: CommandFolders
) -> tuple[OptionWord, ...]:
    _check_words([word.text for word in words], name, build)
    return check(words, build.options, folders).given


def _check_words(words: Sequence[str], name: tuple[str, ...], build: Build) -> None:
    """Refuses words that a program would not take for a plain file or target name."""
    for word in words:
        if word.startswith("@") or _ADDRESS.fullmatch(word):
            raise NotReadOnly(say("{word} may name a file with more options, or a program", word=word))
        if build.operands == "targets" and "=" in word and not word.startswith("-"):
            raise NotReadOnly(say("{word} changes what {program} runs", word=word, program=name[0]))
    behind = words[words.index("--") + 1 :] if "--" in words else ()
    known = _OF_TESTS if name[0] == "cargo" else set[str]()
    if any(word.startswith("-") and word not in known for word in behind):
        raise NotReadOnly("not every program ends its options at --")
