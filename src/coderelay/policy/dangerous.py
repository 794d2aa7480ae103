"""What is dangerous in a command, found anywhere in it: substitutions, functions, strings for another shell.

This walk is tolerant and may only make a verdict stricter. `stop` is refused outside of yolo; `danger`
is asked about with its reason.
"""

import re
from collections.abc import Iterator, Set
from itertools import chain, dropwhile, islice
from typing import TYPE_CHECKING

from msgspec import Struct

from coderelay.policy.danger_tables import DANGERS, GIT_DANGERS, PUBLISHES, RUN_INPUT, RUNNERS, STARTERS, TAKE_TEXTS
from coderelay.policy.mentions import is_mentioned, is_understood
from coderelay.policy.recognisers.options import Refused
from coderelay.policy.recognisers.wrappers import WRAPPERS, unwrap
from coderelay.policy.rules import NO_RULES, CommandRules
from coderelay.policy.shell_words import MOST_CHARACTERS, Word, find_nodes, odd_character, parse
from coderelay.policy.tightening import INTERPRETERS, SHELLS, Spelling, meaning
from coderelay.policy.tolerant_words import text_of, words_of
from coderelay.protocol.secret_places import secret_in_text
from coderelay.protocol.translatable import say

if TYPE_CHECKING:
    from tree_sitter import Node

_DEEPEST = 6
_MOST_VECTORS = 2000
_MOST_WORDS = 64
_MOST_STARTS = 16

_FETCHERS = {"curl", "wget", "fetch", "nc", "ncat", "aria2c"}
_FEEDS = {"file_redirect", "heredoc_body", "herestring_redirect"}
_LOOKED_AT = (
    "command", "declaration_command", "unset_command", "pipeline", "redirected_statement", "file_redirect",
    "raw_string", "expansion", "variable_assignment",
)  # fmt: skip
_DESTROYERS = {"rm", "chmod", "chown", "chgrp", "shred", "find", "dd", "wipefs"}
_WHOLE = re.compile(
    r"""(?:/+|/+\*|~|~/|~/\*|\$\{?HOME\}?/?|\$\{?HOME\}?/\*|/\.|/\.\*|/\.\.|
    /(?:bin|boot|dev|etc|home|lib|lib64|opt|proc|root|run|sbin|srv|sys|usr|var|Users|System|Library)/?\*?)""",
    re.VERBOSE,
)
_UNREAD = re.compile(r"<\(|/dev/(?:stdin|fd/|tcp/|udp/)|/proc/(?:self|thread-self)/fd/")
_DISK = re.compile(r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|mapper/|dm-)\w*")
_FORK_BOMB = re.compile(r"([\w:.]{1,40}) ?\( ?\)\s{0,9}\{[^}]{0,200}?\1 ?\| ?\1 ?&")
_AS_WRITTEN = Spelling()
_TOO_DEEP = "it hides commands too deep to look at"


class Danger(Struct, frozen=True):
    """`ruled` is a rule of the person's own, which no rule that allows can take back."""

    reason: str
    stop: bool = False
    ruled: bool = False


class _Look(Struct):
    """The person's rules, what is known about how the command spells its programs, and how much of it is still
    looked at: wrappers in wrappers and texts in texts multiply."""

    rules: CommandRules
    spelling: Spelling
    vectors: int = _MOST_VECTORS
    characters: int = MOST_CHARACTERS

    understood: "dict[int, bool]" = {}

    def understands(self, command: "Node") -> bool:
        if command.id not in self.understood:
            words = [text_of(child) for child in words_of(command)] if command.type == "command" else []
            self.understood[command.id] = bool(words) and is_understood(words)
        return self.understood[command.id]

    def unseen(self, reason: str) -> Danger:
        """Where nobody looks, a rule may be about what is there."""
        return Danger(reason, ruled=bool(self.rules.deny or self.rules.ask))


def find_danger(
    text: str, root: "Node", rules: CommandRules = NO_RULES, spelling: Spelling = _AS_WRITTEN
) -> Danger | None:
    """The worst thing in a command: what is refused before what is asked about."""
    found: Danger | None = None
    look = _Look(rules, spelling)
    for danger in chain(_walk(text, root, look, 0), _continued(text, look)):
        if danger.stop:
            return danger
        if found is None or (danger.ruled and not found.ruled):
            found = danger
    return found


def _continued(text: str, look: _Look) -> Iterator[Danger]:
    """To the parser a line that is continued ends a word; to bash it does not, except in a comment."""
    joined = text.replace("\\\n", "")
    if joined != text:
        yield from _walk(joined, parse(joined).root_node, look, 0)


def words_in(text: str) -> set[str]:
    """Words of a text that may be programs or scripts, those in strings for another shell too."""
    if len(text) > MOST_CHARACTERS or odd_character(text):
        return set()
    words = [text_of(word) for node in find_nodes(parse(text).root_node, "command") for word in words_of(node)]
    redirected = [text_of(node.children[-1]) for node in find_nodes(parse(text).root_node, "file_redirect")]
    return {part for word in (*words, *redirected) for part in (word, *word.split()) if part}


def _walk(text: str, root: "Node", rules: _Look, depth: int) -> Iterator[Danger]:
    if depth > _DEEPEST:
        yield rules.unseen(_TOO_DEEP)
        return
    if _FORK_BOMB.search(text):
        yield Danger("it starts itself without end", stop=True)
    if "GIT_CONFIG_" in text and any(rule[:1] == ("git",) for rule in (*rules.rules.deny, *rules.rules.ask)):
        yield Danger("it changes what git runs, so that a rule may be about it", ruled=True)
    if root.has_error and (rules.rules.deny or rules.rules.ask):
        yield Danger("it cannot be parsed, so that a rule may be about it", ruled=True)
    for node in find_nodes(root, *_LOOKED_AT):
        match node.type:
            case "command" | "declaration_command" | "unset_command":
                yield from _fed(node, rules, depth)
                yield from _vector([text_of(child) for child in words_of(node)], rules, depth)
            case "raw_string" | "expansion":
                yield from _substituted_later(node, rules)
            case "variable_assignment":  # EDITOR='git push', for whatever is started with it
                yield from _mentioned(["", text_of(node.children[-1])], rules)
            case "pipeline":
                yield from _pipeline(node, rules, depth)
            case "redirected_statement":
                yield from _fed(node, rules, depth)
            case _:
                yield from _redirection(node)
        if rules.vectors < 0:
            return
    if secret := secret_in_text(text):
        yield Danger(say("it touches {path}, where secrets are kept", path=secret))


def _substituted_later(node: "Node", look: _Look) -> Iterator[Danger]:
    """Of a text that the shell may still read in another way: between backticks, or as the index of an array."""
    text = (node.text or b"").decode(errors="replace")
    if "`" not in text and "$(" not in text:
        return
    if node.type == "raw_string" and node.parent is not None and look.understands(node.parent):
        return
    for part in re.split(r"\$\(|[`;|&()\n]", text)[1:_MOST_WORDS]:
        if (words := part.split()) and any(ruled_dangers(words, look.rules, look.spelling)):
            yield look.unseen("it may be what a rule is about")
            return


def _mentioned(words: list[str], look: _Look) -> Iterator[Danger]:
    """Of a vector that starts nothing as far as is known. In what does start others, only variables count here."""
    name = words[0].rpartition("/")[2]
    if name in SHELLS or name in STARTERS or name in TAKE_TEXTS or name in ("eval", "trap"):
        words = ["", *(each for each in words if re.match(r"\w+=", each))]
    elif name != "git" and set(RUNNERS.get(name, ())) & set(words):
        return
    for rule in (*look.rules.deny, *look.rules.ask):
        if is_mentioned(rule, words, look.spelling) and not is_understood(words):
            yield Danger(say("it may be what a rule is about, {rule}", rule=_said(rule)), ruled=True)


def _vector(words: list[str], rules: _Look, depth: int, *, guessed: bool = False) -> Iterator[Danger]:
    """`guessed`: the words may as well be those of another program before them."""
    words = words[1:] if words[:1] == ["--"] else words
    rules.vectors -= 1
    if not words or rules.vectors < -1:
        return
    if rules.vectors < 0 or depth > _DEEPEST:
        yield rules.unseen("it holds too many commands to look at" if depth <= _DEEPEST else _TOO_DEEP)
        return
    name = words[0].rpartition("/")[2]
    rest = words[1:]
    yield from ruled_dangers(words, rules.rules, rules.spelling)
    yield from _stops(name, rest)
    if not guessed:
        yield from _mentioned(words, rules)
    if name in SHELLS and any(re.fullmatch(r"-\w*c\w*", each) for each in rest):
        yield Danger("it runs a text as a command")
        for each in rest:
            if not each.startswith("-"):
                yield from _inner(each, rules, depth)
    elif name in INTERPRETERS - SHELLS and any(each in ("-c", "-e", "--eval", "-r", "-p") for each in rest):
        yield Danger(say("it runs a text as a {language} program", language=name))
    elif name == "env":
        for at, each in enumerate(rest[:_MOST_WORDS]):
            if split := re.match(r"(?:--split-string=?|-[A-Za-z0]*S)", each):
                yield from _inner(" ".join([each[split.end() :], *rest[at + 1 :]]), rules, depth)
    elif name in ("eval", "trap", "watch"):
        yield from _inner(" ".join(each for each in rest if not each.startswith("-")), rules, depth)
    elif name in TAKE_TEXTS:
        for each in rest[:_MOST_WORDS]:
            yield from _inner(re.sub(r"^(?:--?[\w-]+=|-[A-Za-z]|\w+=)", "", each), rules, depth)
    if name in (*SHELLS, "source", ".") and any(map(_UNREAD.match, rest)):
        yield rules.unseen("it runs a text that nobody can look at")
    if name in STARTERS:
        yield from _wrapped(name, rest, rules, depth)
    for subcommand in RUNNERS.get(name, ()):
        if subcommand in rest[:_MOST_WORDS]:
            started = rest[rest.index(subcommand) + 1 :]
            yield from _wrapped("", started, rules, depth)
            yield from _inner(started[0] if started else "", rules, depth)
    if name == "git" and (reason := _git_danger(rest)):
        yield Danger(reason)
    elif (name, rest[0] if rest else "") in PUBLISHES:
        yield Danger("it publishes something")
    elif reason := DANGERS.get(name.partition(".")[0] if name.startswith("mkfs.") else name):
        yield Danger(reason)


def ruled_dangers(words: list[str], rules: CommandRules, spelling: Spelling) -> Iterator[Danger]:
    """What the person's own rules say about one vector."""
    for rule in rules.deny:
        match meaning(rule, words, spelling):
            case "yes":
                yield Danger(say("a rule denies {rule}", rule=_said(rule)), stop=True)
            case "maybe":
                yield Danger(say("it may be what a rule is about, {rule}", rule=_said(rule)), ruled=True)
            case "no":
                pass
    for rule in rules.ask:
        match meaning(rule, words, spelling):
            case "yes":
                yield Danger(say("a rule asks about {rule}", rule=_said(rule)), ruled=True)
            case "maybe":
                yield Danger(say("it may be what a rule is about, {rule}", rule=_said(rule)), ruled=True)
            case "no":
                pass


def _said(rule: tuple[str, ...]) -> str:
    return " ".join(rule) or "every command"


def _inner(text: str, rules: _Look, depth: int) -> Iterator[Danger]:
    rules.characters -= len(text)
    if rules.characters < 0:
        yield rules.unseen(_TOO_DEEP)
        return
    yield from _walk(text, parse(text).root_node, rules, depth + 1)


def _wrapped(name: str, rest: list[str], rules: _Look, depth: int) -> Iterator[Danger]:
    """A wrapper's options may take values, so every word that is left is tried as the program."""
    if name == "find":
        if "-delete" in rest:
            yield Danger("it removes files")
        starts = [at + 1 for at, each in enumerate(rest) if each in ("-exec", "-execdir", "-ok", "-okdir")]
        for start in starts[:_MOST_STARTS]:
            yield from _vector(rest[start:], rules, depth + 1)
        if len(starts) > _MOST_STARTS:
            yield rules.unseen("it holds too many commands to look at")
        return
    if (inner := _started(name, rest)) is not None:
        yield from _vector(inner, rules, depth + 1)
        return
    if len(rest) > _MOST_WORDS:
        yield rules.unseen("it hides a command behind too many words")
        rest = rest[:_MOST_WORDS]
    operands = [at for at, each in enumerate(rest) if not each.startswith("-") and "=" not in each]
    for number, at in enumerate(operands[STARTERS.get(name, 0) :][:3]):
        yield from _vector(rest[at:], rules, depth + 1, guessed=number > 0)
    for at in operands[3:]:
        rules.vectors -= 1
        if rules.vectors < 0:
            return
        yield from ruled_dangers(rest[at:], rules.rules, rules.spelling)


def _started(name: str, rest: list[str]) -> list[str] | None:
    """The one vector that is started, if that is plain to see."""
    if name not in WRAPPERS:
        return None
    try:
        return [word.text for word in unwrap(name, [Word(each) for each in rest])]
    except Refused:
        return None


def _stops(name: str, rest: list[str]) -> Iterator[Danger]:
    """What nobody means: refused outside of yolo."""
    if name not in _DESTROYERS and not name.startswith("mkfs"):
        return
    letters = "".join(each[1:] for each in rest if re.fullmatch(r"-[A-Za-z]+", each))
    deep = "r" in letters or "R" in letters or "--recursive" in rest
    if name == "rm" and "--no-preserve-root" in rest:
        yield Danger("it removes the whole machine", stop=True)
    if name in ("rm", "chmod", "chown", "chgrp", "shred") and deep and any(map(_WHOLE.fullmatch, rest)):
        yield Danger("it destroys the machine or the home folder", stop=True)
    if name == "find" and "-delete" in rest and rest and _WHOLE.fullmatch(rest[0]) and len(rest) == 2:
        yield Danger("it destroys the machine or the home folder", stop=True)
    if name == "dd" and any(each.startswith("of=") and _DISK.match(each[3:]) for each in rest):
        yield Danger("it overwrites a disk", stop=True)
    if (name.startswith("mkfs") or name in ("wipefs", "shred")) and any(map(_DISK.match, rest)):
        yield Danger("it overwrites a disk", stop=True)


def _git_danger(rest: list[str]) -> str | None:
    """Options before the subcommand can name programs to run."""
    if rest and rest[0].startswith(("-c", "--exec-path", "--config-env")):
        return "it changes what git runs"
    words = list(rest)
    while words and words[0].startswith("-"):
        words = words[2 if words[0] in ("-C", "--git-dir", "--work-tree") else 1 :]
    if words[:2] in (["config", "--get"], ["config", "--get-all"], ["config", "--list"]):
        return None
    if words[:1] == ["config"] and len(words) == 2 and not words[1].startswith("-"):
        return None
    if words[:1] == ["clean"] and any(re.fullmatch(r"-[dxX]*n[dxX]*|--dry-run", word) for word in words):
        return None
    if words[:2] == ["checkout", "-b"] and not any(word.startswith("-") for word in words[2:]):
        return None
    if words[:1] == ["branch"] and {"-D", "-d", "--delete", "-f"} & set(words):
        return "it removes or moves a branch"
    if words[:2] in (["stash", "drop"], ["stash", "clear"]):
        return "it discards work"
    return GIT_DANGERS.get(words[0]) if words else None


def _fed(node: "Node", rules: _Look, depth: int) -> Iterator[Danger]:
    """What an interpreter is given to run: a file, a here document or a here string."""
    program = _program(node, RUN_INPUT) if node.named_children else ""
    if program not in INTERPRETERS | RUN_INPUT:
        return
    for each in (below for child in node.children for below in _given_files(child)):
        match each.type:
            case "file_redirect" if any(child.type == "<" for child in each.children):
                yield from ruled_dangers([text_of(each.children[-1])], rules.rules, rules.spelling)
            case "heredoc_body":
                yield from _fed_text(program, (each.text or b"").decode(errors="replace"), rules, depth)
            case "herestring_redirect":
                yield from _fed_text(program, text_of(each.children[-1]), rules, depth)
            case _:
                pass


def _fed_text(program: str, text: str, rules: _Look, depth: int) -> Iterator[Danger]:
    """Only shells read it as a command; in other languages nobody knows more than that it mentions one."""
    if program in SHELLS:
        yield from _inner(text, rules, depth)
    yield from _mentioned(["", text], rules)


def _given_files(node: "Node") -> "list[Node]":
    return [each for each in (node, *node.children) if each.type in _FEEDS]


def _pipeline(node: "Node", rules: _Look, depth: int) -> Iterator[Danger]:
    parts = [child for child in node.children if child.is_named]
    names = [_program(child) for child in parts]
    fed_ones = [at for at, part in enumerate(parts) if _program(part, RUN_INPUT) in INTERPRETERS | RUN_INPUT]
    last = max(fed_ones, default=0)
    for part in parts[:last]:  # the words may be a file that is run, or a text that is
        words = [text_of(child) for child in words_of(part)] if part.type == "command" else []
        for word in words[1:_MOST_WORDS]:
            yield from ruled_dangers([word], rules.rules, rules.spelling)
        if words and words[0].rpartition("/")[2] in ("echo", "printf"):
            yield from _fed_text(names[last], " ".join(words[1:]), rules, depth)
    fed = node.parent is not None and node.parent.type == "heredoc_redirect"
    fetched = False
    for at, name in enumerate(names):
        if fetched and name in INTERPRETERS:
            yield Danger("it runs what it fetches from the network")
        elif name in INTERPRETERS and name != names[0]:
            yield Danger("it runs the output of another command")
        if name in SHELLS and (at or fed) and _reads_commands(parts[at]):
            yield rules.unseen("it runs the output of another command")
        fetched = fetched or name in _FETCHERS


def _reads_commands(shell: "Node") -> bool:
    """Is there no file that it runs, so that it runs what it is given?"""
    words = [text_of(child) for node in find_nodes(shell, "command") for child in words_of(node)]
    behind = dropwhile(lambda word: word.rpartition("/")[2] not in SHELLS, words)
    return "-s" in words or all(word.startswith(("-", "+")) for word in islice(behind, 1, None))


def _program(node: "Node", but: Set[str] = frozenset()) -> str:
    """What is started in the end, or one of those `but` on the way to it."""
    while node.type in ("redirected_statement", "list", "negated_command") and node.named_children:
        node = node.named_children[-1 if node.type == "list" else 0]
    words = [text_of(child) for child in words_of(node)] if node.type == "command" else []
    while words and words[0] not in but and (words[0] in STARTERS or words[0].startswith("-")):
        words = words[1:]
    return words[0].rpartition("/")[2] if words else ""


def _redirection(node: "Node") -> Iterator[Danger]:
    operators = {child.type for child in node.children}
    target = text_of(node.children[-1])
    if not operators & {">", ">>", "&>", "&>>", ">|", ">&"}:
        return
    if _DISK.match(target):
        yield Danger("it overwrites a disk", stop=True)
    elif target.startswith(("/", "~", "$")) and target not in ("/dev/null", "/dev/stderr", "/dev/stdout"):
        yield Danger(say("it writes to {path}", path=target))
