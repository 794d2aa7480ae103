"""May this command run? Pure: one parse, two walks that never swap roles.

The first walk proves that a command only reads; only a proof allows. The second looks for danger in
whatever is written and can only make the verdict stricter.
"""

import re
from typing import Literal

from msgspec import Struct

from coderelay.policy.dangerous import find_danger
from coderelay.policy.recognisers.options import Refused
from coderelay.policy.recognisers.paths import Place
from coderelay.policy.recognisers.recogniser import recognise, recognise_edit
from coderelay.policy.rules import NO_RULES, CommandRules, Signature, begins_with, signature_of
from coderelay.policy.shell_words import (
    MOST_CHARACTERS,
    NotLiteral,
    Redirection,
    Script,
    Simple,
    Word,
    odd_character,
    parse,
    read_script,
)
from coderelay.protocol.events import Mode

Effect = Literal["read", "edit", "approved", "run", "stop"]
Answer = Literal["allow", "ask", "deny"]

MATRIX: dict[Mode, dict[Effect, Answer]] = {
    "plan": {"read": "allow", "edit": "deny", "approved": "deny", "run": "deny", "stop": "deny"},
    "default": {"read": "allow", "edit": "ask", "approved": "allow", "run": "ask", "stop": "deny"},
    "auto-edit": {"read": "allow", "edit": "allow", "approved": "allow", "run": "ask", "stop": "deny"},
    "yolo": {"read": "allow", "edit": "allow", "approved": "allow", "run": "allow", "stop": "allow"},
}
_MOST_COMMANDS = 64
_HARMLESS = re.compile(r"(LANG|LANGUAGE|LC_[A-Z]+|TZ|NO_COLOR|FORCE_COLOR|CLICOLOR|TERM|COLUMNS|LINES|CI)")
_HARMLESS_VALUE = re.compile(r"[A-Za-z0-9_.@-]{0,40}")
_PAGERS = {"PAGER", "GIT_PAGER", "MANPAGER"}


class ShellVerdict(Struct, frozen=True):
    """`signature` is what may be remembered when a person approves; without one, only this very text."""

    verdict: Answer
    reason: str
    signature: Signature | None = None


class Assessment(Struct, frozen=True):
    """What a command does at worst, whatever the mode."""

    effect: Effect
    reason: str
    signature: Signature | None = None


def judge_command(
    command: str, mode: Mode, folders: tuple[str, ...] = (), rules: CommandRules = NO_RULES
) -> ShellVerdict:
    """The verdict on one text. `folders` are those of the session, absolute; it starts in the first one."""
    if mode == "yolo":
        return ShellVerdict("allow", "mode is yolo")
    found = assess(command, folders, rules)
    verdict = MATRIX[mode][found.effect]
    reason = f"{found.reason}; mode is {mode}" if verdict == "deny" and found.effect != "stop" else found.reason
    return ShellVerdict(verdict, reason, found.signature if verdict == "ask" else None)


def assess(command: str, folders: tuple[str, ...] = (), rules: CommandRules = NO_RULES) -> Assessment:
    if not command.strip():
        return Assessment("run", "it is empty")
    if len(command) > MOST_CHARACTERS:
        return Assessment("run", "it is too long to be looked at")
    if odd := odd_character(command):
        return Assessment("run", f"it holds a character that is not seen as it is ({odd})")
    tree = parse(command)
    danger = find_danger(command, tree.root_node, rules)
    if danger is not None and danger.stop:
        return Assessment("stop", danger.reason)
    try:
        script = read_script(command, tree)
    except NotLiteral as refusal:
        return Assessment("run", danger.reason if danger else str(refusal))
    if (danger is None or not danger.ruled) and _is_allowed_by_rules(script, rules):
        return Assessment("approved", "a rule allows it")
    if danger is not None:
        return Assessment("run", danger.reason, signature_of(script))
    return _prove(script, Place(folders))


def _is_allowed_by_rules(script: Script, rules: CommandRules) -> bool:
    """Every command of it, and nothing but commands."""
    if script.redirections or any(command.assignments for command in script.commands):
        return False
    vectors = [[word.text for word in command.words] for command in script.commands]
    return all(any(begins_with(vector, rule) for rule in rules.allow) for vector in vectors)


def _prove(script: Script, place: Place) -> Assessment:
    try:
        if len(script.commands) > _MOST_COMMANDS:
            raise Refused("it holds too many commands")
        for redirection in script.redirections:
            _check_redirection(redirection, place)
        effects = {"read"}
        for command in script.commands:
            effect, place = _prove_one(command, place)
            effects.add(effect)
    except Refused as refusal:
        return Assessment("run", str(refusal), signature_of(script))
    if "edit" in effects:
        return Assessment("edit", "it makes files or folders", signature_of(script))
    return Assessment("read", "it only reads")


def _prove_one(command: Simple, place: Place) -> tuple[Effect, Place]:
    for name, value in command.assignments:
        _check_assignment(name, value)
    if command.words[0].text == "cd":
        return "read", _change_folder(command, place)
    try:
        recognise(command.words, place)
    except Refused as refusal:
        try:
            recognise_edit(command.words, place)
        except Refused:
            raise refusal from None
        return "edit", place
    return "read", place


def _change_folder(command: Simple, place: Place) -> Place:
    match command.words:
        case [_, Word(text=text, glob=False)] if not text.startswith("-") and text and place.holds(text):
            pass
        case _:
            raise Refused("it leaves the workspace, or may")
    if command.piped or command.assignments:
        raise Refused("cd is part of a pipe")
    return Place(place.folders, at_root=place.is_root(text))


def _check_assignment(name: str, value: str) -> None:
    if name in _PAGERS and value == "cat":
        return
    if not _HARMLESS.fullmatch(name) or not _HARMLESS_VALUE.fullmatch(value):
        raise Refused(f"it sets {name}")


def _check_redirection(redirection: Redirection, place: Place) -> None:
    operator, target = redirection.operator, redirection.target
    if operator in (">&", "<&") and target in ("0", "1", "2"):
        return
    if operator in (">", ">>", "&>", "&>>", ">&") and target == "/dev/null":
        return
    if operator == "<" and place.holds(target):
        return
    if operator == "<":
        raise Refused(f"{target} is outside of the workspace")
    raise Refused(f"it writes to {target}")
