"""Whether an allow rule of the person covers a shell command.

The command must begin with the words of the rule. If its program is not in our tables, anything may follow. If it is,
what follows must be known to be harmless as well: a rule never covers an option that writes or starts a program, nor
another target, nor a place where secrets are kept, unless the rule itself names it.
"""

from collections.abc import Sequence

from coderelay.policy.shell.build_command_check import harmless_rest, is_known_use
from coderelay.policy.shell.programs.command_folders_and_not_read_only import CommandFolders, NotReadOnly
from coderelay.policy.shell.programs.program_table import find_build, system_name, system_program
from coderelay.policy.shell.programs.read_only_check import has_table, recognise
from coderelay.policy.shell.programs.shells_and_wrappers import unwrap
from coderelay.policy.shell.strict_bash_parser import Word
from coderelay.protocol.secret_paths import secret_word


def allows(rule: tuple[str, ...], words: Sequence[Word], folders: tuple[str, ...], *, meets_secrets: bool) -> bool:
    """Whether the rule allows this command. A rule without words allows every command. `meets_secrets` says that the
    command would read a file of secrets."""
    texts = tuple(word.text for word in words)
    if texts[: len(rule)] != rule:
        return False
    if not rule or len(rule) == len(texts):
        return True
    inside = CommandFolders(folders, sandboxed=True)
    if (harmless := harmless_rest(words, len(rule), inside)) is not None:
        return harmless
    if system_name(texts[0]) == "git" and find_build(texts) is not None:
        return is_known_use(words, inside)
    if system_program(texts[0]).plain_start:
        return _allows_inner(rule, words, folders, meets_secrets=meets_secrets)
    if not has_table(texts):
        return True
    if _goes_beyond(rule, inside):
        return True
    secret = meets_secrets or any(secret_word(word.text, glob=word.glob) for word in words[len(rule) :])
    return not secret and _only_reads(words, inside)


def _only_reads(words: Sequence[Word], folders: CommandFolders) -> bool:
    """Whether the command is proved to only read. It may read anywhere, because the person has named the program."""
    try:
        recognise(words, CommandFolders(folders.folders, sandboxed=True, anywhere=True))
    except NotReadOnly:
        return False
    return True


def _goes_beyond(rule: tuple[str, ...], folders: CommandFolders) -> bool:
    """Whether the rule itself names an option that does more than read, as `sed -i` does: the person means that."""
    words = [Word(each) for each in rule]
    names_option = any(word.startswith("-") for word in rule[1:]) and has_table(rule)
    if system_name(rule[0]) == "git" and rule[1:2] and rule[1].startswith("-"):
        return False  # the subcommand is not named yet
    return names_option and not _only_reads(words, folders) and not _only_reads([*words, Word("x")], folders)


def _allows_inner(
    rule: tuple[str, ...], words: Sequence[Word], folders: tuple[str, ...], *, meets_secrets: bool
) -> bool:
    """Whether a rule on a wrapper allows the command that the wrapper starts. The rule `timeout 60 make` allows make;
    `timeout 60` names only the wrapper, and allows nothing behind it that does more than read."""
    if _only_reads(words, CommandFolders(folders)):
        return not meets_secrets
    try:
        inner = unwrap(system_name(words[0].text), words[1:])
    except NotReadOnly:
        return len(rule) > 1 and not rule[-1].startswith("-") and not rule[-1].isdecimal()
    named = rule[len(words) - len(inner) :]
    return bool(named) and allows(named, inner, folders, meets_secrets=meets_secrets)
