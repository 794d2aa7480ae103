"""Finds dangerous commands anywhere in a shell text, by what is known of programs and by the person's own rules.

Whatever is found only makes a verdict stricter. A command with a danger that is `refused` is denied except in mode
yolo; for any other danger, the person is asked, with its reason.
"""

import re
from collections.abc import Iterator

from coderelay.policy.rules import NO_RULES, CommandRules
from coderelay.policy.shell.deny_and_ask_rule_dangers import UserRuleDangers
from coderelay.policy.shell.deny_and_ask_rule_matching import Spelling
from coderelay.policy.shell.destructive_commands import Danger, destruction, overwriting
from coderelay.policy.shell.possible_commands import (
    Command,
    LateSubstitution,
    PossibleCommand,
    PossibleText,
    Record,
    ShellText,
    Suspicion,
    WrittenFile,
    walk,
)
from coderelay.policy.shell.programs.program_table import find_program
from coderelay.protocol.secret_paths import secret_in_text
from coderelay.protocol.translatable import say

_FORK_BOMB = re.compile(r"([\w:.]{1,40}) ?\( ?\)\s{0,9}\{[^}]{0,200}?\1 ?\| ?\1 ?&")
_AS_WRITTEN = Spelling()


def find_danger(
    text: str, rules: CommandRules = NO_RULES, spelling: Spelling = _AS_WRITTEN, *, other_rules: bool = False
) -> Danger | None:
    """The worst danger in a command: what is refused before what is asked about. `other_rules` says that there are
    rules beside those on commands, about paths or hosts."""
    found: Danger | None = None
    user_rules = UserRuleDangers(rules, spelling, other_rules=other_rules)
    for record in walk(text):
        for danger in _dangers(record, user_rules):
            if danger.refused:
                return danger
            if found is None or (danger.by_user_rule and not found.by_user_rule):
                found = danger
    return found


def _dangers(record: Record, user_rules: UserRuleDangers) -> Iterator[Danger]:
    match record:
        case Command(words, guessed):
            yield from destruction(words)
            yield from user_rules.of_command(words, guessed=guessed)
            yield from _known_of_program(words)
        case PossibleCommand(words, wrapped):
            if wrapped:
                yield from destruction(words)
            yield from user_rules.of_words(words)
        case PossibleText(text):
            yield from user_rules.mentioned(("", text))
        case LateSubstitution(text, command):
            yield from user_rules.of_late_substitution(text, command)
        case Suspicion(reason, unexamined):
            yield user_rules.of_unexamined(reason) if unexamined else Danger(reason)
        case WrittenFile(target):
            yield from overwriting(target)
        case ShellText():
            if _FORK_BOMB.search(record.text):
                yield Danger("it keeps starting itself", refused=True)
            yield from user_rules.of_text(record)
            if secret := secret_in_text(record.text):
                yield Danger(say("it touches {path}, which may hold secrets", path=secret))


def _known_of_program(words: tuple[str, ...]) -> Iterator[Danger]:
    program, rest = find_program(words[0]), words[1:]
    if program.find_danger is not None and (reason := program.find_danger(rest)):
        yield Danger(reason)
    elif program.publishes and rest[:1] == (program.publishes,):
        yield Danger("it publishes something")
    elif program.danger:
        yield Danger(program.danger)
