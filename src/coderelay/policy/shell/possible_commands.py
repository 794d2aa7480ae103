"""Finds every command that a shell text may run: behind wrappers, in substitutions, nested shells, here documents.

A text is walked once, and the checks for danger, for rules that deny or ask, and for the network all read the same
records. The walk is tolerant: it finds more than would really run. So what it finds may make a verdict stricter or
ask for a right, but never proves that a command is harmless: the literal reading does that (`strict_bash_parser`).
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import dropwhile, islice
from typing import TYPE_CHECKING

from msgspec import Struct

from coderelay.policy.shell.approximate_bash_words import find_nodes, text_of, words_of
from coderelay.policy.shell.programs.command_folders_and_not_read_only import NotReadOnly
from coderelay.policy.shell.programs.find import RUN_ACTIONS
from coderelay.policy.shell.programs.program_spec import Program
from coderelay.policy.shell.programs.program_table import base_name, find_program
from coderelay.policy.shell.programs.shells_and_wrappers import unwrap
from coderelay.policy.shell.strict_bash_parser import Word, odd_character
from coderelay.policy.shell.tree_sitter_bash import MOST_CHARACTERS, parse
from coderelay.protocol.translatable import say

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_WORDS = 64
"""How many words of one command are examined where each of them could begin another command."""

_DEEPEST = 6
_MOST_COMMANDS = 2000
_MOST_STARTS = 16
_MOST_GUESSES = 3

_LOOKED_AT = (
    "command", "declaration_command", "unset_command", "pipeline", "redirected_statement", "file_redirect",
    "raw_string", "expansion", "variable_assignment",
)  # fmt: skip
_INPUTS = {"file_redirect", "heredoc_body", "herestring_redirect"}
_TEXT_OPTION = re.compile(r"-\w*c\w*|--commands?(?:=.*)?", re.IGNORECASE | re.DOTALL)
_CODE_OPTIONS = {"-c", "-e", "--eval", "-r", "-p"}
_SPLIT_OPTION = re.compile(r"(?:--split-string=?|-[A-Za-z0]*S)")
_OPTION_NAME = re.compile(r"^(?:--?[\w-]+=|-[A-Za-z]|\w+=)")
_UNREAD = re.compile(r"<\(|/dev/(?:stdin|fd/|tcp/|udp/)|/proc/(?:self|thread-self)/fd/")
_TOO_DEEP = "its commands are nested too deeply to check"
_TOO_MANY = "it contains too many commands to check"
_RUNS_OUTPUT = "it runs the output of another command"


class Command(Struct, frozen=True):
    """Words that are started as a command. If `guessed` is true, they follow a wrapper, and it is not certain where
    the wrapper's own words end."""

    words: tuple[str, ...]
    guessed: bool = False


class PossibleCommand(Struct, frozen=True):
    """Words that some program may start: a file that a shell reads or, if `wrapped` is true, words far behind a
    wrapper."""

    words: tuple[str, ...]
    wrapped: bool = False


class PossibleText(Struct, frozen=True):
    """A text that some program may run as a command."""

    text: str


class LateSubstitution(Struct, frozen=True):
    """A word with a substitution that the shell does not make now but may make later. `command` is the command in
    which the word is quoted."""

    text: str
    command: tuple[str, ...] = ()


class Suspicion(Struct, frozen=True):
    """A reason to ask that lies in the form of the text. If `unexamined`, the text runs something that cannot be
    analysed."""

    reason: str
    unexamined: bool = False


class WrittenFile(Struct, frozen=True):
    """A file that a redirection writes."""

    target: str


class ShellText(Struct, frozen=True):
    """A text that a shell runs: the command text itself, or one inside it. Its records come before it."""

    text: str
    root: "Node"


Record = Command | PossibleCommand | PossibleText | LateSubstitution | Suspicion | WrittenFile | ShellText


@lru_cache(maxsize=8)
def walk(text: str) -> tuple[Record, ...]:
    """All records of a text. The records of what a command starts come before the command itself. The text must not
    be longer than MOST_CHARACTERS."""
    walker = _Walker()
    records = [*walker.text(text, 0)]
    joined = text.replace("\\\n", "")  # to the parser a continued line ends a word; to bash it does not
    if joined != text:
        records += walker.text(joined, 0)
    return tuple(records)


class _Walker:
    """Walks a text within a budget of commands and characters, because nested wrappers and nested texts multiply."""

    def __init__(self) -> None:
        self._commands = _MOST_COMMANDS
        self._characters = MOST_CHARACTERS

    def text(self, text: str, depth: int) -> Iterator[Record]:
        if depth > _DEEPEST:
            yield Suspicion(_TOO_DEEP, unexamined=True)
            return
        root = parse(text).root_node
        words: dict[int, tuple[str, ...]] = {}
        for node in find_nodes(root, *_LOOKED_AT):
            match node.type:
                case "command" | "declaration_command" | "unset_command":
                    words[node.id] = _words(node)
                    yield from self._input(node, words[node.id], depth)
                    yield from self._command(words[node.id], depth)
                case "raw_string" | "expansion":  # may be evaluated later, in backticks or as an array index
                    late = (node.text or b"").decode(errors="replace")
                    if "`" in late or "$(" in late:
                        quoting = node.parent if node.type == "raw_string" and node.parent else node
                        yield LateSubstitution(late, words.get(quoting.id, ()))
                case "variable_assignment":  # a program may run the value, as with EDITOR='git push'
                    yield PossibleText(text_of(node.children[-1]))
                case "pipeline":
                    yield from self._pipeline(node, depth)
                case "redirected_statement":
                    yield from self._input(node, _last_command(node), depth)
                case _:
                    if {child.type for child in node.children} & {">", ">>", "&>", "&>>", ">|", ">&"}:
                        yield WrittenFile(text_of(node.children[-1]))
            if self._commands < 0:
                break
        yield ShellText(text, root)

    def _inner(self, text: str, depth: int) -> Iterator[Record]:
        self._characters -= len(text)
        if self._characters < 0:
            yield Suspicion(_TOO_DEEP, unexamined=True)
        else:
            yield from self.text(text, depth + 1)

    def _command(self, words: tuple[str, ...], depth: int, *, guessed: bool = False) -> Iterator[Record]:
        words = words[1:] if words[:1] == ("--",) else words
        self._commands -= 1
        if not words or self._commands < -1:
            return
        if self._commands < 0 or depth > _DEEPEST:
            yield Suspicion(_TOO_MANY if depth <= _DEEPEST else _TOO_DEEP, unexamined=True)
            return
        yield from self._texts(words, depth)
        program, rest = find_program(words[0]), words[1:]
        if program.command_at is not None:
            yield from self._started(words[0], program.command_at, rest, depth)
        for before in program.command_after:
            if before in rest[:MOST_WORDS]:
                started = rest[rest.index(before) + 1 :]
                yield from self._started("", 0, started, depth)
                yield from self._inner(started[0] if started else "", depth)
        yield Command(words, guessed)

    def _texts(self, words: tuple[str, ...], depth: int) -> Iterator[Record]:
        """The texts among the words of a command that are commands themselves."""
        name, program, rest = base_name(words[0]), find_program(words[0]), words[1:]
        if program.interprets == "commands" and any(_takes_text(each, program) for each in rest):
            yield Suspicion("it runs a string as a command")
            for each in rest:
                if text := each.partition("=")[2] if each.startswith("-") else each:
                    yield from self._inner(text, depth)
                    if program.own_syntax:
                        yield PossibleText(text)
        elif program.interprets == "code" and not _CODE_OPTIONS.isdisjoint(rest):
            yield Suspicion(say("it runs a string as a {language} program", language=name))
        elif name == "env":
            for at, each in enumerate(rest[:MOST_WORDS]):
                if split := _SPLIT_OPTION.match(each):
                    yield from self._inner(" ".join([each[split.end() :], *rest[at + 1 :]]), depth)
        elif program.command_texts == "joined":
            plain = [each for each in rest if not each.startswith("-")]
            yield from self._inner(" ".join(plain), depth)
            for each in (
                plain[:MOST_WORDS] if len(plain) > 1 else ()
            ):  # the words behind it may be no part of the text
                if " " in each:
                    yield from self._inner(each, depth)
        elif program.command_texts == "each":
            for each in rest[:MOST_WORDS]:
                yield from self._inner(_OPTION_NAME.sub("", each), depth)
        if program.interprets in ("commands", "file") and any(map(_UNREAD.match, rest)):
            yield Suspicion("it runs code that cannot be checked", unexamined=True)

    def _started(self, name: str, own: int, rest: tuple[str, ...], depth: int) -> Iterator[Record]:
        """The command that a wrapper starts. The wrapper's options may take values, so each of the first operands
        behind its `own` ones is tried as the program."""
        if base_name(name) == "find":
            starts = [at + 1 for at, each in enumerate(rest) if each in RUN_ACTIONS]
            for start in starts[:_MOST_STARTS]:
                yield from self._command(rest[start:], depth + 1)
            if len(starts) > _MOST_STARTS:
                yield Suspicion(_TOO_MANY, unexamined=True)
            return
        if (exact := _exact_start(name, rest)) is not None:
            yield from self._command(exact, depth + 1)
            return
        if len(rest) > MOST_WORDS:
            far = [at for at, each in enumerate(rest) if find_program(each).find_destruction is not None]
            yield from (PossibleCommand(rest[at:], wrapped=True) for at in far[:_MOST_STARTS])
            yield Suspicion("its command is wrapped in too many other commands", unexamined=True)
            rest = rest[:MOST_WORDS]
        operands = [at for at, each in enumerate(rest) if not each.startswith("-") and "=" not in each]
        for number, at in enumerate(operands[own : own + _MOST_GUESSES]):
            yield from self._command(rest[at:], depth + 1, guessed=number > 0)
        for at in operands[_MOST_GUESSES:]:
            self._commands -= 1
            if self._commands < 0:
                return
            yield PossibleCommand(rest[at:], wrapped=True)

    def _input(self, node: "Node", words: tuple[str, ...], depth: int) -> Iterator[Record]:
        """What an interpreter is given to run: a file, a here document or a here string."""
        word = _started_program(words, stop_at_input=True)
        if not _runs_input(word):
            return
        children = [each for child in node.children for each in (child, *child.children) if each.type in _INPUTS]
        for each in children:
            match each.type:
                case "file_redirect" if any(child.type == "<" for child in each.children):
                    yield PossibleCommand((text_of(each.children[-1]),))
                case "heredoc_body":
                    yield from self._input_text_records(word, (each.text or b"").decode(errors="replace"), depth)
                case "herestring_redirect":
                    yield from self._input_text_records(word, text_of(each.children[-1]), depth)
                case _:
                    pass

    def _input_text_records(self, word: str, text: str, depth: int) -> Iterator[Record]:
        """A text that an interpreter reads as its input. Only a shell reads it as commands; in another language it
        may mention one."""
        if find_program(word).interprets == "commands":
            yield from self._inner(text, depth)
        yield PossibleText(text)

    def _pipeline(self, node: "Node", depth: int) -> Iterator[Record]:
        parts = [child for child in node.children if child.is_named]
        commands = [_last_command(part) for part in parts]
        words = [_started_program(command) for command in commands]
        readers = [at for at, each in enumerate(commands) if _runs_input(_started_program(each, stop_at_input=True))]
        last = max(readers, default=0)
        for part, command in zip(parts[:last], commands, strict=False):
            written = command if part.type == "command" else ()  # a word may be a script that is run, or its text
            for word in written[1:MOST_WORDS]:
                yield PossibleCommand((word,))
            if written and base_name(written[0]) in ("echo", "printf"):
                yield from self._input_text_records(words[last], " ".join(written[1:]), depth)
        is_fed = node.parent is not None and node.parent.type == "heredoc_redirect"
        fetched = False
        for at, word in enumerate(words):
            program = find_program(word)
            interpreter = program.interprets in ("commands", "code")
            if fetched and interpreter:
                yield Suspicion("it runs what it fetches from the network")
            elif interpreter and word != words[0]:
                yield Suspicion(_RUNS_OUTPUT)
            if program.interprets == "commands" and (at or is_fed) and _reads_commands(parts[at]):
                yield Suspicion(_RUNS_OUTPUT, unexamined=True)
            fetched = fetched or program.fetches


def _words(command: "Node") -> tuple[str, ...]:
    return tuple(text_of(child) for child in words_of(command))


def _exact_start(name: str, rest: tuple[str, ...]) -> tuple[str, ...] | None:
    """The command that a wrapper starts, if all options of the wrapper are known; otherwise None."""
    if not find_program(name).plain_start:
        return None
    try:
        return tuple(word.text for word in unwrap(base_name(name), [Word(each) for each in rest]))
    except NotReadOnly:
        return None


def _takes_text(option: str, shell: Program) -> bool:
    return _TEXT_OPTION.fullmatch(option) is not None or option.partition("=")[0] in shell.text_options


def _runs_input(word: str) -> bool:
    program = find_program(word)
    return program.runs_input or program.interprets in ("commands", "code")


def _reads_commands(shell: "Node") -> bool:
    """Whether a shell is given no script file, so that it runs its input."""
    words = [word for node in find_nodes(shell, "command") for word in _words(node)]
    behind = dropwhile(lambda word: find_program(word).interprets != "commands", words)
    return "-s" in words or all(word.startswith(("-", "+")) for word in islice(behind, 1, None))


def _last_command(node: "Node") -> tuple[str, ...]:
    """The words of the command that reads the input, or writes the output, of a statement."""
    while node.type in ("redirected_statement", "list", "negated_command") and node.named_children:
        node = node.named_children[-1 if node.type == "list" else 0]
    return _words(node) if node.type == "command" else ()


def _started_program(words: tuple[str, ...], *, stop_at_input: bool = False) -> str:
    """The name of the program that is started behind all wrappers; with `stop_at_input`, of the first program on the
    way to it that runs its input."""
    for word in words:
        program = find_program(word)
        if (stop_at_input and program.runs_input) or (program.command_at is None and not word.startswith("-")):
            return word
    return ""


def words_in(text: str) -> set[str]:
    """The words of a text that may be programs or scripts, including those in strings for another shell."""
    if len(text) > MOST_CHARACTERS or odd_character(text):
        return set()
    words: set[str] = set()
    for record in walk(text):
        match record:
            case Command(words=found) | PossibleCommand(words=found):
                words.update(found)
            case PossibleText(text=found) | LateSubstitution(text=found):
                words.add(found)
            case _:
                pass
    return {part for word in words for part in (word, *word.split()) if part}
