"""The types of the program tables, and the option parser that checks an argument vector against them.

A table lists what is known to be harmless. An option that is not in the table is not harmless.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from coderelay.policy.shell.parser import Word
from coderelay.protocol.secret_paths import secret_place
from coderelay.protocol.translatable import say

# System files that every read-only program may read, because they hold no secrets.
_EVERYBODYS = {
    "/etc/os-release", "/etc/debian_version", "/proc/cpuinfo", "/proc/meminfo", "/proc/loadavg", "/proc/version",
}  # fmt: skip


class CommandFolders(Struct, frozen=True):
    """The workspace folders as absolute paths; `at_root` says whether the command is still at the first one.

    `reading` is true for a program that only reads, which may also read the public system files. `sandboxed` says
    that what it starts by itself is confined. With `anywhere` every path counts as inside, because the person has
    said so.
    """

    folders: tuple[str, ...] = ()
    at_root: bool = True
    reading: bool = False
    sandboxed: bool = False
    anywhere: bool = False

    def holds(self, path: str) -> bool:
        if self.anywhere:
            return True
        if ".." in path.split("/") or path.startswith("~"):
            return False
        if not path.startswith("/") or path == "/dev/null" or (self.reading and path in _EVERYBODYS):
            return True
        return any(path == folder or path.startswith(f"{folder}/") for folder in self._real_folders())

    def is_root(self, path: str) -> bool:
        return (path == "." and self.at_root) or (path.rstrip("/") in self._real_folders())

    def _real_folders(self) -> tuple[str, ...]:
        """The absolute folders without `/`, which would hold every path."""
        return tuple(folder.rstrip("/") for folder in self.folders if folder.startswith("/") and folder.strip("/"))


Recogniser = Callable[[Sequence[Word], CommandFolders], Sequence[Word] | None]
"""Raises NotReadOnly unless the program only reads when it is given these words. Returns the command that the program
starts in turn, if any, which must be recognised as well."""
EVERY_USE: frozenset[str] = frozenset()


class NotReadOnly(Exception):
    """A command is not proved to be harmless; the `reason` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Options(Struct, frozen=True):
    """The harmless options of one program.

    The letters in `short` take no value, those in `texts` take one, those in `files` take a path, and those in
    `joined` a value that is never a word of its own. Names in `long` end in `=` if they take a value, in `=/` if it
    is a path, in `=?` if it can only be joined by `=`. `single_dash` are whole words that are accepted as they are.
    `numbers` accepts `-20` as a count.

    The first `text_operands` operands are not paths; an option in `instead` takes their place. `most_operands` limits
    the operands and forbids globs among them. `operands_last` says that an option behind an operand may be one more
    operand, `at_files` that `@file` stands for the arguments in that file.

    If `any_option` is true, no option of the program does harm, so that a glob may expand to one. With `option_opens`
    one of these options opens a file, so that a glob that could become it must not contain a slash.
    """

    short: str = ""
    texts: str = ""
    files: str = ""
    joined: str = ""
    long: tuple[str, ...] = ()
    text_operands: int = 0
    instead: tuple[str, ...] = ()
    most_operands: int | None = None
    numbers: bool = False
    any_option: bool = False
    option_opens: bool = False
    at_files: bool = False
    operands_last: bool = False
    single_dash: tuple[str, ...] = ()


class OptionWord(Struct, frozen=True):
    """One option word as it was written, together with its value if that is a word of its own. `names` are the
    options in it: `-kC sub` gives `-k` and `-C`. An operand has no names."""

    names: tuple[str, ...]
    words: tuple[str, ...]


class Operands(Struct, frozen=True):
    """A checked argument vector: its operands that are not paths, its paths, and the names of its options. `given` is
    the whole vector in the order it was written."""

    texts: tuple[str, ...]
    paths: tuple[str, ...]
    options: tuple[str, ...]
    given: tuple[OptionWord, ...] = ()


def check(words: Sequence[Word], known: Options, folders: CommandFolders) -> Operands:
    """Parses an argument vector. Raises NotReadOnly for unknown options and for paths outside of the workspace."""
    operands: list[Word] = []
    seen: list[str] = []
    given: list[OptionWord] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        behind, before = len(rest), len(seen)
        check_pattern(word)
        harmless = known.any_option and not (known.option_opens and "/" in word.text)
        if word.glob and not harmless and word.text[0] in "-*?":
            raise NotReadOnly(say("the pattern {pattern} could become an option", pattern=word.text))
        if known.operands_last and operands and word.text.startswith("-"):
            raise NotReadOnly(f"{word.text} behind an operand may be a file")
        if word.text == "--":
            operands += rest
            given += [OptionWord((), (each.text,)) for each in (word, *rest)]
            break
        if word.text == "-" or not word.text.startswith("-"):
            operands.append(word)
        elif word.text in known.single_dash:
            seen.append(word.text)
        elif word.text.startswith("--"):
            seen.append(_long(word, rest, known, folders))
        elif known.numbers and word.text[1:].isascii() and word.text[1:].isdigit():
            seen.append("-n")
        else:
            seen += _short(word, rest, known, folders)
        if operands and word.text != "-" and word.text.startswith("-") and len(rest) < behind:
            _check_files([words[-len(rest) - 1].text], folders)  # some programs take the value for an operand
        taken = words[len(words) - behind - 1 : len(words) - len(rest)]
        given.append(OptionWord(tuple(seen[before:]), tuple(each.text for each in taken)))
    texts = 0 if set(seen) & set(known.instead) else known.text_operands
    if known.most_operands is not None and (
        len(operands) > known.most_operands or any(each.glob for each in operands)
    ):
        raise NotReadOnly("it has more arguments than are known to be safe")
    if any(each.glob for each in operands[:texts]):
        raise NotReadOnly("a pattern is not a plain word")
    paths = [each.text for each in operands[texts:]]
    if known.at_files and any(path.startswith("@") for path in paths):
        raise NotReadOnly("a file of arguments could hold any option")
    _check_files(paths, folders)
    return Operands(tuple(each.text for each in operands[:texts]), tuple(paths), tuple(seen), tuple(given))


def check_pattern(word: Word) -> None:
    """Refuses globs such as `.*`, which expand to `..` in some shells."""
    if word.glob and any(part and not part.strip(".*?") and part[0] == "." for part in word.text.split("/")):
        raise NotReadOnly(say("the pattern {pattern} could leave the workspace", pattern=word.text))


def _long(word: Word, rest: list[Word], known: Options, folders: CommandFolders) -> str:
    name, joined, value = word.text.partition("=")
    if word.glob and not joined:
        raise NotReadOnly(say("the pattern {pattern} could become an option", pattern=word.text))
    if not joined and name in known.long:
        return name
    for ending in ("=", "=/", "=?"):
        if name + ending not in known.long:
            continue
        if not joined and ending != "=?":
            value = _next(word, rest)
        if ending == "=/":
            _check_files([value], folders)
        return name
    raise NotReadOnly(say("the option {option} may change things", option=name))


def _short(word: Word, rest: list[Word], known: Options, folders: CommandFolders) -> list[str]:
    letters = word.text[1:]
    seen: list[str] = []
    for at, letter in enumerate(letters):
        seen.append(f"-{letter}")
        if letter in known.short:
            continue
        if letter in known.joined:
            return seen
        if letter not in known.texts and letter not in known.files:
            raise NotReadOnly(say("the option {option} may change things", option=f"-{letter}"))
        value = letters[at + 1 :] or _next(word, rest)
        if letter in known.files:
            _check_files([value], folders)
        return seen
    if word.glob:
        raise NotReadOnly(say("the pattern {pattern} could become an option", pattern=word.text))
    return seen


def _next(word: Word, rest: list[Word]) -> str:
    """Takes the next word as the value of an option. A word that looks like an option may be one, and is refused."""
    if not rest or rest[0].glob or rest[0].text.startswith("-"):
        raise NotReadOnly(f"the option {word.text} lacks a plain value")
    return rest.pop(0).text


def _check_files(paths: Sequence[str], folders: CommandFolders) -> None:
    for path in paths:
        if path != "-" and not folders.holds(path):
            raise NotReadOnly(say("{path} is outside the workspace", path=path))
        if secret := secret_place(path):
            raise NotReadOnly(say("it touches {path}, which may hold secrets", path=secret))


class Build(Struct, frozen=True):
    """One use of a program that runs tests or a build, or that `changes` files in a way that is easy to see.

    Only the listed options are known. `signature_options` are those that a remembered command keeps, because with
    them or without them the program runs or writes something else: `--fix`, but also `--check`. Operands are `files`
    of the workspace, any of which may stand there, or `targets`, each of which does something of its own and is kept
    too.
    """

    options: Options = Options()
    signature_options: tuple[str, ...] = ()
    operands: Literal["files", "targets"] = "files"
    changes: bool = False


class Program(Struct, frozen=True):
    """All that is known about one program. The defaults describe a program about which nothing is known.

    Proofs, which may allow a command: the program only reads when it is given the options in `reads`, or words that
    `recognise` accepts, or one of the `version` options alone. It only makes files and folders when it is given the
    options in `edits`. `builds` maps the words behind the program's name to what is known about that use.

    What is read: `only_names` programs show names, sizes and times of files but not their contents. `searches` is
    true for programs that look for a pattern in files, `whole` for those that may read all files of a folder.
    `words_are_messages` says that the words are messages for people, and none of them is run.

    Other commands in its words: `command_at` is how many operands of its own stand before the command that the
    program starts, or None if it starts none. If `plain_start` is true, `unwrap` knows its options and finds that
    command exactly. A command also stands behind each of the words in `command_after`. `adds_words` says that the
    command gets more words than are written. `command_texts` says that `each` word may be the text of a command, or
    that all words `joined` are one.

    Interpreters run `commands` (a shell), `code` in another language, or a `file` in the present shell. A shell runs
    the text behind `-c`, and behind the `text_options` that it has beside that one. The text of a shell with its
    `own_syntax` may hold commands that bash would not see. `runs_input` says that the program runs its input, or
    programs that its input names.

    Danger: `danger` is the reason why a person is asked, `find_danger` finds it from the words, and `publishes` is a
    subcommand that publishes something. `network` lists the subcommands that talk to other machines; EVERY_USE means
    that the program always does. `fetches` says that what it prints comes from another machine.
    """

    reads: Options | None = None
    recognise: Recogniser | None = None
    version: tuple[str, ...] = ()
    edits: Options | None = None
    builds: Mapping[tuple[str, ...], Build] = {}
    only_names: bool = False
    searches: bool = False
    whole: bool = False
    words_are_messages: bool = False
    command_at: int | None = None
    plain_start: bool = False
    command_after: tuple[str, ...] = ()
    adds_words: bool = False
    command_texts: Literal["", "each", "joined"] = ""
    interprets: Literal["", "commands", "code", "file"] = ""
    text_options: tuple[str, ...] = ()
    own_syntax: bool = False
    runs_input: bool = False
    danger: str = ""
    find_danger: Callable[[Sequence[str]], str | None] | None = None
    publishes: str = ""
    network: frozenset[str] | None = None
    fetches: bool = False
