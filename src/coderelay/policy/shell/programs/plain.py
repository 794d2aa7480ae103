"""Programs with rules of their own that are too short for a file of their own."""

import re
from collections.abc import Sequence

from coderelay.policy.shell.parser import Word
from coderelay.policy.shell.programs.options import Options, Refused, check_pattern
from coderelay.policy.shell.programs.paths import Place
from coderelay.policy.shell.programs.program import Build, Program
from coderelay.protocol.translatable import say

_TESTS = {"-f", "-d", "-e", "-s", "-r", "-w", "-x", "-L", "-h"}
_FORMAT = re.compile(r"(?:[^%]|%%|%[-+ #'\d*.]*[hlLjzt]*[sdiouxXfFeEgGaAcbq])*")
_COMPARES = {"=", "==", "!="}
_COMPARES_FILES = {"-nt", "-ot", "-ef"}
_DATE = re.compile(r"-u|-R|-I[a-z]*|--utc|--iso-8601(?:=\w+)?|--rfc-3339=\w+|--date=.*|\+.*", re.DOTALL)
# Their values are no secrets; another variable may hold one.
_VARIABLES = {
    "PATH", "HOME", "USER", "SHELL", "PWD", "LANG", "LC_ALL", "TZ", "TERM", "TMPDIR", "VIRTUAL_ENV", "NODE_ENV",
    "JAVA_HOME", "GOPATH", "GOROOT", "CARGO_HOME", "RUSTUP_HOME", "HOSTNAME", "EDITOR", "CI",
}  # fmt: skip


def recognise_echo(words: Sequence[Word], place: Place) -> None:
    """Says what it is given, file names of the workspace too."""
    for word in words:
        check_pattern(word)
        if word.glob and not place.holds(word.text):
            raise Refused(say("{path} is outside of the workspace", path=word.text))


def recognise_printf(words: Sequence[Word], place: Place) -> None:
    """Never with an option, as `-v` evaluates a name, and only with what prints: `%n` sets a variable."""
    if not words or words[0].glob or not _FORMAT.fullmatch(words[0].text) or words[0].text.startswith("-"):
        raise Refused("printf is given no plain format")
    recognise_echo(words, place)


def recognise_test(words: Sequence[Word], place: Place) -> None:
    texts = [word.text for word in words]
    texts = texts[1:] if texts[:1] == ["!"] else texts
    match texts:
        case [operator, path] if operator in _TESTS:
            paths = [path]
        case [one, operator, other] if operator in _COMPARES_FILES:
            paths = [one, other]
        case ["-n" | "-z", _]:
            paths = []
        case [_, operator, _] if operator in _COMPARES:
            paths = []
        case _:
            raise Refused("only tests of files and plain texts are known to be harmless")
    if any(word.glob for word in words):
        raise Refused("a pattern is not a plain word")
    for path in paths:
        if not place.holds(path):
            raise Refused(say("{path} is outside of the workspace", path=path))


def recognise_date(words: Sequence[Word], place: Place) -> None:
    """Shows a time; the one that is given, after -d."""
    texts = [word.text for word in words]
    if "-d" in texts[:-1] and not words[texts.index("-d") + 1].glob:
        at = texts.index("-d")
        del texts[at : at + 2]
    if not all(map(_DATE.fullmatch, texts)):
        raise Refused("date may set the clock")


def recognise_printenv(words: Sequence[Word], place: Place) -> None:
    if not words or any(word.text not in _VARIABLES for word in words):
        raise Refused("the environment may hold secrets")


def recognise_ulimit(words: Sequence[Word], place: Place) -> None:
    if len(words) > 1 or any(not re.fullmatch(r"-[SH]?[acdfnstuv]", word.text) for word in words):
        raise Refused("ulimit may change what the shell may use")


PLAIN: dict[str, Program] = {
    "echo": Program(recognise=recognise_echo, names_only=True),
    "printf": Program(recognise=recognise_printf, names_only=True),
    "test": Program(recognise=recognise_test, names_only=True),
    "date": Program(recognise=recognise_date, names_only=True),
    "printenv": Program(recognise=recognise_printenv),
    "ulimit": Program(recognise=recognise_ulimit),
    "mkdir": Program(
        edits=Options(short="pv", long=("--parents", "--verbose")),
        builds={(): Build(Options(short="pv"), changes=True)},
        names_only=True,
    ),
    "touch": Program(edits=Options(short="acm"), builds={(): Build(changes=True)}, names_only=True),
}
