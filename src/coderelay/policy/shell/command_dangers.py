"""Finds dangerous commands, and commands that the person's deny and ask rules are about, anywhere in a shell text.

Whatever is found only makes a verdict stricter. A danger that is `refused` is so outside of yolo; any other danger is
asked about with its reason.
"""

import re
from collections.abc import Iterator, Sequence

from coderelay.policy.rules import NO_RULES, CommandRules
from coderelay.policy.shell.deny_and_ask_rule_matching import Spelling, is_mentioned, is_understood, match_rule
from coderelay.policy.shell.destructive_commands import Danger, destruction, overwriting
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
from coderelay.policy.shell.programs.program_table import base_name, find_program
from coderelay.protocol.secret_paths import secret_in_text
from coderelay.protocol.translatable import say

_FORK_BOMB = re.compile(r"([\w:.]{1,40}) ?\( ?\)\s{0,9}\{[^}]{0,200}?\1 ?\| ?\1 ?&")
_AS_WRITTEN = Spelling()


def find_danger(text: str, rules: CommandRules = NO_RULES, spelling: Spelling = _AS_WRITTEN) -> Danger | None:
    """The worst danger in a command: what is refused before what is asked about."""
    found: Danger | None = None
    look = _DangerSearch(rules, spelling)
    for record in walk(text):
        for danger in look.dangers(record):
            if danger.refused:
                return danger
            if found is None or (danger.by_user_rule and not found.by_user_rule):
                found = danger
    return found


class _DangerSearch:
    """Checks the records of the walk, with the person's rules and what is known about how programs are spelled."""

    def __init__(self, rules: CommandRules, spelling: Spelling) -> None:
        self._rules = rules
        self._spelling = spelling
        self._strict = (*rules.deny, *rules.ask)
        self._understood: dict[tuple[str, ...], bool] = {}

    def dangers(self, record: Record) -> Iterator[Danger]:
        match record:
            case Command(words, guessed):
                yield from self._command(words, guessed=guessed)
            case PossibleCommand(words):
                yield from user_rule_dangers(words, self._rules, self._spelling)
            case PossibleText(text):
                yield from self._mentioned(("", text))
            case LateSubstitution(text, command):
                yield from self._late_substitution(text, command)
            case Suspicion(reason, unexamined):
                yield self._unexamined(reason) if unexamined else Danger(reason)
            case WrittenFile(target):
                yield from overwriting(target)
            case ShellText():
                yield from self._text(record)

    def _unexamined(self, reason: str) -> Danger:
        """The danger of something that cannot be examined: if there are deny or ask rules, one may be about it."""
        return Danger(reason, by_user_rule=bool(self._strict))

    def _text(self, record: ShellText) -> Iterator[Danger]:
        if _FORK_BOMB.search(record.text):
            yield Danger("it keeps starting itself", refused=True)
        if "GIT_CONFIG_" in record.text and any(rule[:1] == ("git",) for rule in self._strict):
            yield Danger("it changes what git runs, so a rule may apply to it", by_user_rule=True)
        if record.root.has_error and self._strict:
            yield Danger("it cannot be parsed, so a rule may apply to it", by_user_rule=True)
        if secret := secret_in_text(record.text):
            yield Danger(say("it touches {path}, which may hold secrets", path=secret))

    def _command(self, words: tuple[str, ...], *, guessed: bool) -> Iterator[Danger]:
        name, program, rest = base_name(words[0]), find_program(words[0]), words[1:]
        yield from destruction(name, rest)
        if self._strict:
            yield from user_rule_dangers(words, self._rules, self._spelling)
            if not guessed:
                yield from self._mentioned(words)
        if name == "find" and "-delete" in rest:
            yield Danger("it removes files")
        if program.find_danger is not None and (reason := program.find_danger(rest)):
            yield Danger(reason)
        elif program.publishes and rest[:1] == (program.publishes,):
            yield Danger("it publishes something")
        elif program.danger:
            yield Danger(program.danger)

    def _late_substitution(self, text: str, command: tuple[str, ...]) -> Iterator[Danger]:
        if not self._strict or (command and self._understands(command)):
            return
        for part in re.split(r"\$\(|[`;|&()\n]", text)[1:MOST_WORDS]:
            if (words := part.split()) and any(user_rule_dangers(words, self._rules, self._spelling)):
                yield self._unexamined("it may be what a rule is about")
                return

    def _understands(self, command: tuple[str, ...]) -> bool:
        if command not in self._understood:
            self._understood[command] = is_understood(command)
        return self._understood[command]

    def _mentioned(self, words: tuple[str, ...]) -> Iterator[Danger]:
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


def user_rule_dangers(words: Sequence[str], rules: CommandRules, spelling: Spelling) -> Iterator[Danger]:
    """What the person's own rules say about one command."""
    for denies, rule in (*((True, rule) for rule in rules.deny), *((False, rule) for rule in rules.ask)):
        found = match_rule(rule, words, spelling)
        if found == "yes" and denies:
            yield Danger(say("a rule denies {rule}", rule=_said(rule)), refused=True)
        elif found == "yes":
            yield Danger(say("a rule asks about {rule}", rule=_said(rule)), by_user_rule=True)
        elif found == "maybe":
            yield Danger(say("the rule {rule} may apply to it", rule=_said(rule)), by_user_rule=True)


def _said(rule: tuple[str, ...]) -> str:
    return " ".join(rule) or "every command"
