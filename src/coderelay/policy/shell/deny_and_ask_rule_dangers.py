"""Where the person's own deny and ask rules apply to a shell text, or may apply to it."""

import re
from collections.abc import Iterator, Sequence

from coderelay.policy.rules import CommandRules
from coderelay.policy.shell.deny_and_ask_rule_matching import Spelling, is_mentioned, is_understood, match_rule
from coderelay.policy.shell.destructive_commands import Danger
from coderelay.policy.shell.possible_commands import MOST_WORDS, ShellText
from coderelay.policy.shell.programs.program_table import base_name, find_program
from coderelay.protocol.translatable import say


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
                yield Danger(say("a rule denies {rule}", rule=_said(rule)), refused=True)
            elif found == "yes":
                yield Danger(say("a rule asks about {rule}", rule=_said(rule)), by_user_rule=True)
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
