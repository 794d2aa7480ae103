"""Programs with rules of their own that are too short for a file of their own."""

from collections.abc import Sequence

from coderelay.policy.recognisers.options import Refused
from coderelay.policy.recognisers.paths import Place
from coderelay.policy.shell_words import Word

# Not here: cargo, rustc, go, yarn and pnpm, which start what the folder asks for even to tell a version.
VERSIONS = {
    "python": ("--version", "-V"), "python3": ("--version", "-V"), "node": ("--version", "-v"),
    "npm": ("--version", "-v"), "pip": ("--version", "-V"), "pip3": ("--version", "-V"), "gcc": ("--version",),
    "g++": ("--version",), "clang": ("--version",), "make": ("--version", "-v"), "cmake": ("--version",),
    "bash": ("--version",), "docker": ("--version", "-v"), "java": ("-version", "--version"),
    "perl": ("-v", "--version"), "ruby": ("-v", "--version"), "uv": ("--version",), "curl": ("--version",),
    "gh": ("--version",), "jq": ("--version",), "rg": ("--version",), "sqlite3": ("--version",), "php": ("-v",),
}  # fmt: skip
_TESTS = {"-f", "-d", "-e", "-s", "-r", "-w", "-x", "-L", "-h"}
_PROCESSES = {"aux", "-ef", "-e", "-f", "-A", "-a", "-x", "ax", "-aux", "-ax"}


def recognise_echo(words: Sequence[Word], place: Place) -> None:
    """Says what it is given, file names of the workspace too."""
    for word in words:
        if word.glob and not place.holds(word.text):
            raise Refused(f"{word.text} is outside of the workspace")


def recognise_printf(words: Sequence[Word], place: Place) -> None:
    """Never with an option: `-v` evaluates a name."""
    if not words or words[0].text.startswith("-") or words[0].glob:
        raise Refused("printf is given no plain format")
    recognise_echo(words, place)


def recognise_test(words: Sequence[Word], place: Place) -> None:
    texts = [word.text for word in words]
    texts = texts[1:] if texts[:1] == ["!"] else texts
    if len(texts) != 2 or any(word.glob for word in words) or texts[0] not in _TESTS | {"-n", "-z"}:
        raise Refused("only tests of one file are known to be harmless")
    if texts[0] in _TESTS and not place.holds(texts[1]):
        raise Refused(f"{texts[1]} is outside of the workspace")


def recognise_date(words: Sequence[Word], place: Place) -> None:
    for word in words:
        if word.text not in ("-u", "-R", "-I", "--utc", "--iso-8601", "-Iseconds") and not word.text.startswith("+"):
            raise Refused("date may set the clock")


def recognise_command(words: Sequence[Word], place: Place) -> None:
    if not words or words[0].text not in ("-v", "-V") or any(word.glob for word in words):
        raise Refused("command runs a program")


def recognise_ps(words: Sequence[Word], place: Place) -> None:
    if any(word.text not in _PROCESSES for word in words):
        raise Refused("ps may show the environment of a process")
