"""Finds dangerous commands anywhere in a shell text, by what is known of programs and by the person's own rules.

Whatever is found only makes a verdict stricter. A command with a danger that is `refused` is denied except in mode
yolo; for any other danger, the person is asked, with its reason.
"""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from coderelay.policy.rules import NO_RULES, CommandRules
from coderelay.policy.shell.deny_and_ask_rule_matching import Spelling, is_mentioned, is_understood, match_rule
from coderelay.policy.shell.possible_commands import (
    MOST_WORDS,
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
from coderelay.policy.shell.programs.dangerous_and_network_programs import DISK
from coderelay.policy.shell.programs.program_table import base_name, find_program
from coderelay.protocol.secret_paths import secret_in_text
from coderelay.protocol.translatable import say


class Danger(Struct, frozen=True):
    """A reason to ask about a command or, with `refused`, to refuse it. If `by_user_rule` is true, it comes from a
    rule of the person, which no allow rule overrides."""

    reason: str
    refused: bool = False
    by_user_rule: bool = False


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


def _dangers(record: Record, user_rules: "UserRuleDangers") -> Iterator[Danger]:
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
                yield Danger("it starts copies of itself without end", refused=True)
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


def destruction(words: Sequence[str]) -> Iterator[Danger]:
    """Destructive commands that nobody runs on purpose; they are refused outside of yolo."""
    find_destruction = find_program(words[0]).find_destruction
    if find_destruction is not None and (reason := find_destruction(words[1:])):
        yield Danger(reason, refused=True)


def overwriting(target: str) -> Iterator[Danger]:
    if DISK.match(target):
        yield Danger("it overwrites a disk", refused=True)
    elif target.startswith(("/", "~", "$")) and target not in ("/dev/null", "/dev/stderr", "/dev/stdout"):
        yield Danger(say("it writes to {path}", path=target))


class UserRuleDangers:
    """Applies the rules to what the walk of a text finds. Without rules, nothing is found. `other_rules` says that
    there are rules beside these, which may be about what cannot be examined."""

    def __init__(self, rules: CommandRules, spelling: Spelling, *, other_rules: bool = False) -> None:
        self._rules = rules
        self._spelling = spelling
        self._strict = (*rules.deny, *rules.ask)
        self._other_rules = other_rules
        self._understood: dict[tuple[str, ...], bool] = {}

    def of_command(self, words: tuple[str, ...], *, guessed: bool) -> Iterator[Danger]:
        if self._strict:
            yield from self.of_words(words)
            if not guessed:
                yield from self.mentioned(words)

    def of_words(self, words: Sequence[str]) -> Iterator[Danger]:
        """What the rules say about one command."""
        for denies, rule in (
            *((True, rule) for rule in self._rules.deny),
            *((False, rule) for rule in self._rules.ask),
        ):
            found = match_rule(rule, words, self._spelling)
            if found == "yes" and denies:
                yield Danger(say("denied by the rule {rule}", rule=_said(rule)), refused=True)
            elif found == "yes":
                yield Danger(say("the rule {rule} asks for approval", rule=_said(rule)), by_user_rule=True)
            elif found == "maybe":
                yield Danger(say("the rule {rule} may apply to it", rule=_said(rule)), by_user_rule=True)

    def mentioned(self, words: tuple[str, ...]) -> Iterator[Danger]:
        """The rules that the words of a command mention, although it is not known to start anything. If the program
        does start others, only its variable assignments count here."""
        program = find_program(words[0])
        if program.interprets == "commands" or program.command_at is not None or program.command_texts:
            words = ("", *(each for each in words if re.match(r"\w+=", each)))
        elif base_name(words[0]) != "git" and not set(program.command_after).isdisjoint(words):
            return
        for rule in self._strict:
            if is_mentioned(rule, words, self._spelling) and not is_understood(words):
                yield Danger(say("the rule {rule} may apply to it", rule=_said(rule)), by_user_rule=True)

    def of_late_substitution(self, text: str, command: tuple[str, ...]) -> Iterator[Danger]:
        if not self._strict or (command and self._understands(command)):
            return
        for part in re.split(r"\$\(|[`;|&()\n]", text)[1:MOST_WORDS]:
            if (words := part.split()) and any(self.of_words(words)):
                yield self.of_unexamined("it may be what a rule is about")
                return

    def of_text(self, record: ShellText) -> Iterator[Danger]:
        if "GIT_CONFIG_" in record.text and any(rule[:1] == ("git",) for rule in self._strict):
            yield Danger("it changes what git runs, so a rule may apply to it", by_user_rule=True)
        ends_find = record.text.strip() in (";", "+", "{}")  # the words behind `find -exec sh -c '…'`
        if record.root.has_error and (self._strict or (self._other_rules and not ends_find)):
            yield Danger("it cannot be parsed, so a rule may apply to it", by_user_rule=True)

    def of_unexamined(self, reason: str) -> Danger:
        """The danger of something that cannot be examined: if there are rules, one may be about it."""
        return Danger(reason, by_user_rule=bool(self._strict) or self._other_rules)

    def _understands(self, command: tuple[str, ...]) -> bool:
        if command not in self._understood:
            self._understood[command] = is_understood(command)
        return self._understood[command]


def _said(rule: tuple[str, ...]) -> str:
    return " ".join(rule) or say("every command")
