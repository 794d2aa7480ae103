"""Whether a shell command matches a deny or ask rule of the person: yes, no or maybe.

A rule that denies or asks must match whatever the same rule would allow, however the program is spelled: by a path,
by a link, with options before its subcommand. If it is unknown here what the shell expands a word to, the answer is
`maybe`, and the person is asked.
"""

import posixpath
import re
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Literal

from msgspec import Struct

from coderelay.policy.shell.build_command_check import is_known_use
from coderelay.policy.shell.programs.command_folders_and_not_read_only import CommandFolders, NotReadOnly
from coderelay.policy.shell.programs.program_table import PROGRAMS, find_program
from coderelay.policy.shell.programs.read_only_check import recognise
from coderelay.policy.shell.strict_bash_parser import Word

Likeness = Literal["no", "maybe", "yes"]
_MOST_WORDS = 64
_MOST_SCRIPTS = 4
_UNKNOWN = re.compile(r"[$`*?\[]|\{\}|\{[^{}]*(?:,|\.\.)[^{}]*\}|^~[^/]")  # find replaces {}
_JOINED = re.compile(r"(?:.*/)?([a-z]+)-([a-z-]+)")
_RENAMING = re.compile("|".join(program.renaming for program in PROGRAMS.values() if program.renaming))
_FEW_LETTERS = re.compile(r"-[A-Za-z]{1,3}")
_TOKEN = re.compile(r"[\w.+-]+")
_ONE_LETTER = re.compile(r"-[A-Za-z](?=\w)")


class Spelling(Struct, frozen=True):
    """What is known about the words of one command text. `links` maps a word, as it is written, to the paths that it
    resolves to, link by link. `moves` says that the text changes its folder, so that relative paths may mean
    anything."""

    folders: tuple[str, ...] = ()
    home: str = ""
    links: Mapping[str, tuple[str, ...]] = {}
    moves: bool = False


def match_rule(rule: tuple[str, ...], words: Sequence[str], spelling: Spelling) -> Likeness:
    """Whether the rule matches this argument vector, or a program or script that the vector would run. A rule without
    words matches every command. `words` are without their quotes, as far as that can be told."""
    found = {match_words(rule, words[at:], spelling) for at in (0, *_scripts(words))}
    found |= {match_program(rule[0], word, spelling) for word in _programs_given_more_arguments(words) if rule}
    return "yes" if "yes" in found else "maybe" if "maybe" in found else "no"


def _scripts(words: Sequence[str]) -> list[int]:
    """The positions of words that may be the script file that an interpreter, `.` or `source` runs."""
    if not find_program(words[0]).interprets:
        return []
    return [at for at, word in enumerate(words[:_MOST_WORDS]) if at and not word.startswith("-")][:_MOST_SCRIPTS]


def _programs_given_more_arguments(words: Sequence[str]) -> list[str]:
    """The programs to which a command such as xargs adds arguments that are not in the text. Every rule about such a
    program therefore matches, whatever other words the rule has."""
    if not find_program(words[0]).adds_words:
        return []
    rest = words[1:_MOST_WORDS]
    return [rest[at] for at in _reachable({0}, rest)]


def match_words(rule: tuple[str, ...], words: Sequence[str], spelling: Spelling) -> Likeness:
    if tuple(words[: len(rule)]) == rule:
        return "yes"
    joined = _JOINED.fullmatch(words[0]) if find_program(rule[0]).joins_subcommand else None
    if joined is not None and joined[1] == rule[0].rpartition("/")[2]:
        words = [rule[0], joined[2], *words[1:]]
    program = match_program(rule[0], words[0], spelling)
    if program != "yes" or len(rule) == 1:
        return program  # a word with an unknown expansion may become several words
    found = _arguments(rule[1:], words[1:])
    return "maybe" if found == "no" and any(map(_RENAMING.match, words[1:_MOST_WORDS])) else found


def match_program(rule: str, word: str, spelling: Spelling) -> Likeness:
    """Whether this word of a command is the program that a rule names, by its name or by its path."""
    hops = spelling.links.get(word, ())
    name = word.rpartition("/")[2]
    wanted = rule.rpartition("/")[2]
    if wanted not in {name, *(hop.rpartition("/")[2] for hop in hops)}:
        unknown = _UNKNOWN.search(name) is not None
        return "maybe" if unknown and ("$" in name or "`" in name or _may_become(name, wanted)) else "no"
    if "/" not in rule or "/" not in word:
        return "yes"  # a bare name is looked up in PATH, which is not known here
    if _UNKNOWN.search(word) or (spelling.moves and not word.startswith(("/", "~/"))):
        return "yes"
    meant = {path for each in (word, *hops) for path in _absolute(each, spelling)}
    ruled = {path for each in (rule, *_same_name(rule, spelling)) for path in _absolute(each, spelling)}
    return "yes" if meant & ruled else "no"


def _same_name(rule: str, spelling: Spelling) -> list[str]:
    """The paths that the path of a rule resolves to under the same file name; other names are left out, because one
    program may have many names."""
    return [hop for hop in spelling.links.get(rule, ()) if hop.rpartition("/")[2] == rule.rpartition("/")[2]]


def _absolute(path: str, spelling: Spelling) -> set[str]:
    if path.startswith("~/") and spelling.home:
        path = posixpath.join(spelling.home, path[2:])
    return {posixpath.normpath(posixpath.join(folder, path)) for folder in spelling.folders or ("/",)}


def _may_become(pattern: str, name: str) -> bool:
    """Whether a pattern may expand to this name. Braces always may, so that the person is asked."""
    return "{" in pattern or fnmatchcase(name, pattern)


def _arguments(rule: Sequence[str], words: Sequence[str]) -> Likeness:
    """Whether the words hold the plain words of the rule in order, with any options between them, and the rule's
    options anywhere."""
    known = words[:_MOST_WORDS]
    if not all(_has_option(option, known) for option in rule if option.startswith("-")):
        return "no"
    surely, perhaps = {0}, {0}
    for each in (word for word in rule if not word.startswith("-")):
        perhaps = {at + 1 for at in _reachable(perhaps, known) if known[at] == each or _UNKNOWN.search(known[at])}
        surely = {at + 1 for at in _reachable(surely, known) if known[at] == each}
    return "yes" if surely else "maybe" if perhaps else "no"


def _reachable(places: set[int], words: Sequence[str]) -> set[int]:
    """The positions where the next plain word may be: behind options, each of which may take a word as its value."""
    found = set(places)
    for at, word in enumerate(words):
        if at in found and word.startswith("-"):
            found |= {at + 1} if "=" in word else {at + 1, at + 2}
    return {at for at in found if at < len(words)}


def _has_option(option: str, words: Sequence[str]) -> bool:
    """Whether an option is among the words. `-rf` is also found as `-fr`, `-r -f` and `-rvf`."""
    if option in words or any(word.startswith(f"{option}=") for word in words):
        return True
    if not _FEW_LETTERS.fullmatch(option):
        return False
    letters = {letter for word in words if re.fullmatch(r"-[A-Za-z]+", word) for letter in word[1:]}
    return set(option[1:]) <= letters


def is_mentioned(rule: tuple[str, ...], words: Sequence[str], spelling: Spelling) -> bool:
    """Whether the arguments of a command mention the command that a rule is about. A rule of one word is not
    mentioned by an argument (`docker rm` is not `rm`), but it is by an argument that is itself a text of several
    words."""
    if not rule:
        return False
    known = words[1:_MOST_WORDS]
    if len(rule) > 1 and any(_matches_at(rule, known, at, spelling) for at in range(len(known))):
        return True
    return any(is_in_text(rule, word, spelling) for word in words)


def is_in_text(rule: tuple[str, ...], text: str, spelling: Spelling) -> bool:
    name = rule[0].rpartition("/")[2] if rule else ""
    if not name or name not in text or not any(map(str.isspace, text.strip())):
        return False
    tokens = _TOKEN.findall(_ONE_LETTER.sub(" ", text, count=1) if text.startswith("-") else text)
    return any(_matches_at(rule, tokens, at, spelling) for at in range(len(tokens)))


def _matches_at(rule: tuple[str, ...], words: Sequence[str], at: int, spelling: Spelling) -> bool:
    name = rule[0].rpartition("/")[2]
    return name in words[at] and match_words(rule, words[at : at + _MOST_WORDS], spelling) == "yes"


def is_understood(words: Sequence[str]) -> bool:
    """Whether this argument vector surely runs nothing that its arguments name: it only reads, it is a known build,
    or its words are a message for people."""
    messages = PROGRAMS[words[0]].messages if words and words[0] in PROGRAMS else None
    if not words or (messages is not None and (not messages or not messages.isdisjoint(words[1:2]))):
        return True
    vector = [Word(each) for each in words]
    everywhere = CommandFolders(sandboxed=True, anywhere=True)
    try:
        recognise(vector, everywhere)
    except NotReadOnly:
        return is_known_use(vector, everywhere)
    return True
