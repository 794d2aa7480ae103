"""The verdict on a shell command: allow, ask or deny. Pure.

The text is parsed once and read in two ways, which never swap roles. The literal reading (`strict_bash_parser`)
proves that a command only reads; only a proof allows. The tolerant walk (`possible_commands`) finds every command
that may be written anywhere in the text; it can only make the verdict stricter.
"""

import re

from msgspec import Struct
from msgspec.structs import replace

from coderelay.policy.preset_tables import Effect, ModeAnswer, table_name, table_of
from coderelay.policy.rules import PathBase, Rules, is_about_paths
from coderelay.policy.shell.allow_rule_matching import allows
from coderelay.policy.shell.approval_signatures import Signature, signature_of
from coderelay.policy.shell.build_command_check import is_build
from coderelay.policy.shell.command_dangers import Danger, UserRuleDangers, find_danger
from coderelay.policy.shell.command_paths import secret_at_home
from coderelay.policy.shell.deny_and_ask_rule_matching import Spelling
from coderelay.policy.shell.disk_fact_types import NO_FACTS, DiskFacts
from coderelay.policy.shell.path_and_host_rule_matching import (
    find_named,
    find_rule_for_named_path,
    find_rule_for_possible_path,
)
from coderelay.policy.shell.programs.command_folders_and_not_read_only import CommandFolders, NotReadOnly
from coderelay.policy.shell.programs.read_only_check import recognise, recognise_edit
from coderelay.policy.shell.requested_rights import without_rights
from coderelay.policy.shell.strict_bash_parser import (
    NotLiteral,
    Redirection,
    Script,
    Simple,
    Word,
    odd_character,
    read_script,
)
from coderelay.policy.shell.tree_sitter_bash import MOST_CHARACTERS
from coderelay.protocol.calls import Right
from coderelay.protocol.modes import mode_spec
from coderelay.protocol.secret_paths import may_reach_home, secret_word
from coderelay.protocol.session_setting_values import Mode, Preset
from coderelay.protocol.translatable import join_texts, say

_MOST_COMMANDS = 64
_HARMLESS = re.compile(r"(LANG|LANGUAGE|LC_[A-Z]+|TZ|NO_COLOR|FORCE_COLOR|CLICOLOR|TERM|COLUMNS|LINES|CI)")
_HARMLESS_VALUE = re.compile(r"[A-Za-z0-9_.@-]{0,40}")
_MOVES = re.compile(r"(?<![\w-])(?:cd|pushd|popd|-C|--chdir|--directory|chroot)(?![\w-])")
_PAGERS = {"PAGER", "GIT_PAGER", "MANPAGER"}
_WANTS: dict[Right, str] = {"network": "it asks for network access", "outside": "it asks to run outside the sandbox"}
_NO_RULES = Rules()


class CommandVerdict(Struct, frozen=True):
    """The verdict on one command text. `signature` is what may be remembered when a person approves; without one,
    only this exact text is. With `by_user_rule`, a rule of the person asks, which no earlier approval overrides."""

    verdict: ModeAnswer
    reason: str
    signature: Signature | None = None
    by_user_rule: bool = False


class Assessment(Struct, frozen=True):
    """The worst effect of a command, independent of the mode. `allowed` says that a rule allows it, `by_user_rule`
    that a rule of the person asks about it."""

    effect: Effect
    reason: str
    signature: Signature | None = None
    allowed: bool = False
    by_user_rule: bool = False


def judge_command(
    command: str,
    mode: Mode,
    folders: tuple[str, ...] = (),
    rules: Rules = _NO_RULES,
    *,
    preset: Preset = "balanced",
    sandboxed: bool = False,
    rights: tuple[Right, ...] = (),
    home: str = "",
    facts: DiskFacts = NO_FACTS,
) -> CommandVerdict:
    """The verdict on one command text. `folders` are the absolute folders of the session; the command starts in the
    first one. `sandboxed` says that it would run in a sandbox, `rights` what it wants beyond that."""
    if mode_spec(mode).unchecked:
        return CommandVerdict("allow", table_name(mode, preset))
    table = table_of(mode, preset)
    confined = sandboxed and "outside" not in rights
    found = assess(without_rights(command), folders, rules, home, sandboxed=confined, facts=facts)
    kept = None if rights else found.signature
    cell = table.commands[found.effect]
    if cell == "deny" and found.effect == "destructive":
        return CommandVerdict("deny", found.reason)
    if table.commands["run"] == "deny" and (cell == "deny" or rights):
        return CommandVerdict("deny", join_texts("; ", (found.reason, table_name(mode, preset))))
    if found.by_user_rule:
        return CommandVerdict("ask", found.reason, kept, by_user_rule=True)
    wanted: list[Right] = [right for right in rights if table.rights[right] != "allow"]
    if wanted and not (found.allowed and wanted == ["network"]):
        return CommandVerdict("ask", join_texts("; ", [*map(_WANTS.__getitem__, wanted), found.reason]), kept)
    if found.allowed or cell == "allow":
        return CommandVerdict("allow", found.reason)
    if cell == "sandboxed" and sandboxed:
        return CommandVerdict("allow", "it runs in the sandbox")
    reason = join_texts("; ", (found.reason, "no sandbox")) if cell == "sandboxed" else found.reason
    return CommandVerdict(
        "ask",
        join_texts("; ", (reason, table_name(mode, preset))) if found.effect == "read" else reason,
        kept,
    )


def assess(
    command: str,
    folders: tuple[str, ...],
    rules: Rules = _NO_RULES,
    home: str = "",
    *,
    sandboxed: bool,
    facts: DiskFacts = NO_FACTS,
) -> Assessment:
    if not command.strip():
        return Assessment("run", "it is empty")
    may_meet_rule = any(rule.about != "tool" for rule in (*rules.deny, *rules.ask))  # one may be about an unread text
    if len(command) > MOST_CHARACTERS:
        return Assessment("run", "it is too long to check", by_user_rule=may_meet_rule)
    if odd := odd_character(command):
        return Assessment(
            "run",
            say("it contains an invisible or misleading character ({character})", character=odd),
            by_user_rule=may_meet_rule,
        )
    spelling = Spelling(folders, home, facts.programs, moves=_MOVES.search(command) is not None)
    danger = find_danger(command, rules.commands, spelling, other_rules=may_meet_rule)
    if danger is not None and danger.refused:
        return Assessment("destructive", danger.reason)
    base = PathBase(folders, home)
    if rule := find_named(rules.deny, command, base):
        return Assessment("destructive", say("denied by the rule {rule}", rule=rule.text))
    asking = find_named(rules.ask, command, base)
    by_user_rule = asking is not None or (danger is not None and danger.by_user_rule)
    reason = say("the rule {rule} asks for approval", rule=asking.text) if asking else danger.reason if danger else ""
    script, refusal = _literal_reading(command)
    if script and (strictest := _user_rule_danger(script, rules, spelling)):
        if strictest.refused:
            return Assessment("destructive", strictest.reason)
        if not by_user_rule:
            by_user_rule, reason = True, strictest.reason
    if rule := find_rule_for_named_path(rules.deny, command, base, facts.targets):
        return Assessment("destructive", say("denied by the rule {rule}", rule=rule.text))
    if not by_user_rule and (rule := find_rule_for_named_path(rules.ask, command, base, facts.targets)):
        by_user_rule, reason = True, say("the rule {rule} asks for approval", rule=rule.text)
    proved = (
        _prove(script, CommandFolders(folders, sandboxed=sandboxed), facts, home)
        if script
        else Assessment("run", refusal)
    )
    strict = (*rules.deny, *rules.ask)
    if proved.effect == "read":
        strict = tuple(rule for rule in strict if is_about_paths(rule, "read"))
    if not by_user_rule and (rule := find_rule_for_possible_path(strict, command, base)):
        by_user_rule, reason = True, say("it may use something that the rule {rule} covers", rule=rule.text)
    if script and not by_user_rule and _is_allowed_by_rules(script, rules, base, facts):
        return Assessment("run", "a rule allows it", allowed=True)
    if reason:
        return Assessment("run", reason, signature_of(script) if script else None, by_user_rule=by_user_rule)
    return proved


def _literal_reading(command: str) -> tuple[Script | None, str]:
    """The script that the command is, or None and the reason why it is not literal."""
    try:
        return read_script(command), ""
    except NotLiteral as refusal:
        return None, str(refusal)


def _user_rule_danger(script: Script, rules: Rules, spelling: Spelling) -> Danger | None:
    """What the deny and ask rules say about the argument vectors of the literal reading, which are those that allow
    rules are compared with. So a rule denies, or asks about, whatever the same rule would allow."""
    user_rules = UserRuleDangers(rules.commands, spelling)
    found = [
        danger for command in script.commands for danger in user_rules.of_words([word.text for word in command.words])
    ]
    return next((danger for danger in found if danger.refused), found[0] if found else None)


def _is_allowed_by_rules(script: Script, rules: Rules, base: PathBase, facts: DiskFacts) -> bool:
    """Whether rules allow every command of the script, and the script has no redirections or assignments."""
    if script.redirections or any(command.assignments for command in script.commands):
        return False
    if not rules.commands.allow:
        return False
    secrets = bool(facts.secret) or facts.too_many or _touches_home(script, base)
    return all(
        any(allows(rule, command.words, base.folders, meets_secrets=secrets) for rule in rules.commands.allow)
        for command in script.commands
    )


def _touches_home(script: Script, base: PathBase) -> bool:
    """Whether the script names a place for secrets beneath home. An allow rule may name a program that reads
    anywhere, so absolute paths and those through `..` count too."""
    texts = [word.text for command in script.commands for word in command.words]
    may_leave = base.home and any(base.home in text or ".." in text for text in texts)
    return bool(may_leave or may_reach_home(base.folders, base.home)) and secret_at_home(script, base) is not None


def _prove(script: Script, folders: CommandFolders, facts: DiskFacts, home: str) -> Assessment:
    try:
        away = next((target for target in facts.targets if not folders.holds(target)), None)
        if away and not folders.sandboxed:
            raise NotReadOnly(say("a link leads to {path}, outside the workspace", path=away))
        if facts.secret:
            raise NotReadOnly(say("it would show {path}, which may hold secrets", path=facts.secret))
        if facts.too_many:
            raise NotReadOnly("it may read files with secrets")
        if may_reach_home(folders.folders, home):
            _refuse_secret(secret_at_home(script, PathBase(folders.folders, home)))
        if len(script.commands) > _MOST_COMMANDS:
            raise NotReadOnly("it contains too many commands to check")
        for redirection in script.redirections:
            _check_redirection(redirection, folders)
        effects: set[Effect] = {"read"}
        because = "it only reads"
        for command in script.commands:
            effect, folders, reason = _prove_one(command, folders)
            if _WORSE.index(effect) > max(map(_WORSE.index, effects)):
                because = reason
            effects.add(effect)
    except NotReadOnly as refusal:
        return Assessment("run", refusal.reason, signature_of(script))
    worst = max(effects, key=_WORSE.index)
    return Assessment(worst, because, None if worst == "read" else signature_of(script))


_WORSE: list[Effect] = ["read", "edit", "build"]


def _prove_one(command: Simple, folders: CommandFolders) -> tuple[Effect, CommandFolders, str]:
    for name, value in command.assignments:
        _check_assignment(name, value)
    for word in command.words:
        _check_secret(word)
    if command.words[0].text == "cd":
        return "read", _change_folder(command, folders), ""
    try:
        recognise(command.words, folders)
    except NotReadOnly as refusal:
        if is_build(command.words, folders):
            return "build", folders, refusal.reason
        try:
            recognise_edit(command.words, folders)
        except NotReadOnly:
            raise refusal from None
        return "edit", folders, "it creates files or folders"
    return "read", folders, ""


def _change_folder(command: Simple, folders: CommandFolders) -> CommandFolders:
    match command.words:
        case [_, Word(text=text, glob=False)] if not text.startswith("-") and text and folders.holds(text):
            pass
        case _:
            raise NotReadOnly("it may leave the workspace")
    if command.piped or command.assignments:
        raise NotReadOnly("it runs cd in a pipe, so the folder of the other commands is not clear")
    # After leaving the root, the command never counts as back there: the cd that returns may not be run.
    return replace(folders, at_root=folders.at_root and folders.is_root(text))


def _check_assignment(name: str, value: str) -> None:
    if name in _PAGERS and value == "cat":
        return
    if not _HARMLESS.fullmatch(name) or not _HARMLESS_VALUE.fullmatch(value):
        raise NotReadOnly(say("it sets {name}", name=name))


def _check_secret(word: Word) -> None:
    """Refuses a word that, as the shell reads it, names a place of secrets. The raw text is checked by
    `command_dangers`."""
    _refuse_secret(secret_word(word.text, glob=word.glob))


def _refuse_secret(secret: str | None) -> None:
    if secret:
        raise NotReadOnly(say("it touches {path}, which may hold secrets", path=secret))


def _check_redirection(redirection: Redirection, folders: CommandFolders) -> None:
    operator, target = redirection.operator, redirection.target
    _check_secret(Word(target))
    if operator in (">&", "<&") and target in ("0", "1", "2"):
        return
    if operator in (">", ">>", "&>", "&>>", ">&") and target == "/dev/null":
        return
    if operator == "<" and folders.holds(target):
        return
    if operator == "<":
        raise NotReadOnly(say("{path} is outside the workspace", path=target))
    raise NotReadOnly(say("it writes to {path}", path=target))
