"""The types of the program tables, and the option parser that checks an argument vector against them.

A table lists what is known to be harmless. An option that is not in the table is not harmless.
"""

from collections.abc import Sequence

from msgspec import Struct

from coderelay.policy.shell.programs.command_folders_and_not_read_only import CommandFolders, NotReadOnly
from coderelay.policy.shell.strict_bash_parser import Word
from coderelay.protocol.secret_paths import secret_place
from coderelay.protocol.translatable import say


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
            raise NotReadOnly(say("the option {word} after an operand may be taken as a file", word=word.text))
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
        raise NotReadOnly("it has more arguments than coder knows to be safe")
    if any(each.glob for each in operands[:texts]):
        raise NotReadOnly("a file name pattern stands where a plain word is needed")
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
        raise NotReadOnly(say("the option {option} has no plain value", option=word.text))
    return rest.pop(0).text


def _check_files(paths: Sequence[str], folders: CommandFolders) -> None:
    for path in paths:
        if path != "-" and not folders.holds(path):
            raise NotReadOnly(say("{path} is outside the workspace", path=path))
        if secret := secret_place(path):
            raise NotReadOnly(say("it touches {path}, which may hold secrets", path=secret))
