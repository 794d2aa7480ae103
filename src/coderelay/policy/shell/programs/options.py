"""Which words of an argument vector are options, and which name files.

A table lists what is known to be harmless. A word that is not in the table is not harmless.
"""

from collections.abc import Sequence

from msgspec import Struct

from coderelay.policy.shell.parser import Word
from coderelay.policy.shell.programs.paths import Place
from coderelay.protocol.secret_places import secret_place
from coderelay.protocol.translatable import say


class Refused(Exception):
    """Not proved to be harmless; the `reason` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Options(Struct, frozen=True):
    """The harmless options of one program.

    `short` take no value, `texts` take one, `files` take a path, `joined` one that is never a word of its
    own. Long names end in `=` when they take a value, in `=/` when it is a path, in `=?` when it is only
    ever joined by `=`. The first `text_operands` operands are no paths; an option in `instead` takes their
    place. When `any_option` is true no option of the program does harm, so that a pattern may become one;
    with `option_opens` one of them opens a file, so that no folder may be named behind the pattern.
    `at_files` says that `@file` stands for the arguments in that file, `operands_last` that an option behind
    an operand may be one more operand.
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


class Given(Struct, frozen=True):
    """One option word as it was written, together with its value if that is a word of its own. `names` are the
    options in it: `-kC sub` gives `-k` and `-C`. An operand has no names."""

    names: tuple[str, ...]
    words: tuple[str, ...]


class Operands(Struct, frozen=True):
    """`given` is the whole vector in the order it was written."""

    texts: tuple[str, ...]
    paths: tuple[str, ...]
    options: tuple[str, ...]
    given: tuple[Given, ...] = ()


def check(words: Sequence[Word], known: Options, place: Place) -> Operands:
    """Refuses unknown options and paths outside; what is left are the operands."""
    operands: list[Word] = []
    seen: list[str] = []
    given: list[Given] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        behind, before = len(rest), len(seen)
        check_pattern(word)
        harmless = known.any_option and not (known.option_opens and "/" in word.text)
        if word.glob and not harmless and word.text[0] in "-*?":
            raise Refused(say("the pattern {pattern} could become an option", pattern=word.text))
        if known.operands_last and operands and word.text.startswith("-"):
            raise Refused(f"{word.text} behind an operand may be a file")
        if word.text == "--":
            operands += rest
            given += [Given((), (each.text,)) for each in (word, *rest)]
            break
        if word.text == "-" or not word.text.startswith("-"):
            operands.append(word)
        elif word.text in known.single_dash:
            seen.append(word.text)
        elif word.text.startswith("--"):
            seen.append(_long(word, rest, known, place))
        elif known.numbers and word.text[1:].isascii() and word.text[1:].isdigit():
            seen.append("-n")
        else:
            seen += _short(word, rest, known, place)
        if operands and word.text != "-" and word.text.startswith("-") and len(rest) < behind:
            _check_files([words[-len(rest) - 1].text], place)  # to some programs it is one more operand
        taken = words[len(words) - behind - 1 : len(words) - len(rest)]
        given.append(Given(tuple(seen[before:]), tuple(each.text for each in taken)))
    texts = 0 if set(seen) & set(known.instead) else known.text_operands
    if known.most_operands is not None and (
        len(operands) > known.most_operands or any(each.glob for each in operands)
    ):
        raise Refused("it has more operands than are known to be harmless")
    if any(each.glob for each in operands[:texts]):
        raise Refused("a pattern is not a plain word")
    paths = [each.text for each in operands[texts:]]
    if known.at_files and any(path.startswith("@") for path in paths):
        raise Refused("a file of arguments could hold any option")
    _check_files(paths, place)
    return Operands(tuple(each.text for each in operands[:texts]), tuple(paths), tuple(seen), tuple(given))


def check_pattern(word: Word) -> None:
    """Not every shell leaves `..` out of what such a pattern may become."""
    if word.glob and any(part and not part.strip(".*?") and part[0] == "." for part in word.text.split("/")):
        raise Refused(say("the pattern {pattern} could leave the workspace", pattern=word.text))


def _long(word: Word, rest: list[Word], known: Options, place: Place) -> str:
    name, joined, value = word.text.partition("=")
    if word.glob and not joined:
        raise Refused(say("the pattern {pattern} could become an option", pattern=word.text))
    if not joined and name in known.long:
        return name
    for ending in ("=", "=/", "=?"):
        if name + ending not in known.long:
            continue
        if not joined and ending != "=?":
            value = _next(word, rest)
        if ending == "=/":
            _check_files([value], place)
        return name
    raise Refused(say("the option {option} is not known to be harmless", option=name))


def _short(word: Word, rest: list[Word], known: Options, place: Place) -> list[str]:
    letters = word.text[1:]
    seen: list[str] = []
    for at, letter in enumerate(letters):
        seen.append(f"-{letter}")
        if letter in known.short:
            continue
        if letter in known.joined:
            return seen
        if letter not in known.texts and letter not in known.files:
            raise Refused(say("the option {option} is not known to be harmless", option=f"-{letter}"))
        value = letters[at + 1 :] or _next(word, rest)
        if letter in known.files:
            _check_files([value], place)
        return seen
    if word.glob:
        raise Refused(say("the pattern {pattern} could become an option", pattern=word.text))
    return seen


def _next(word: Word, rest: list[Word]) -> str:
    """A value that looks like an option may be one after all."""
    if not rest or rest[0].glob or rest[0].text.startswith("-"):
        raise Refused(f"the option {word.text} lacks a plain value")
    return rest.pop(0).text


def _check_files(paths: Sequence[str], place: Place) -> None:
    for path in paths:
        if path != "-" and not place.holds(path):
            raise Refused(say("{path} is outside of the workspace", path=path))
        if secret := secret_place(path):
            raise Refused(say("it touches {path}, where secrets are kept", path=secret))
