"""Does a command only mention what a rule is about, in a place where some program may run it?

Nobody knows all programs that start others or that run a text of theirs (`python -c`, `tar --to-command`, `vim -c`).
So a command is asked about if the words of a rule stand among its own, unless it is known what the command does.
"""

import re
from collections.abc import Sequence

from coderelay.policy.shell.approval_prefixes import is_known_use
from coderelay.policy.shell.deny_rules import Spelling, likeness
from coderelay.policy.shell.parser import Word
from coderelay.policy.shell.programs.options import Refused
from coderelay.policy.shell.programs.paths import Place
from coderelay.policy.shell.programs.programs import PROGRAMS
from coderelay.policy.shell.programs.read_only import recognise

_MOST_WORDS = 64
_TOKEN = re.compile(r"[\w.+-]+")
_ONE_LETTER = re.compile(r"-[A-Za-z](?=\w)")
# Of these, the words are written for people.
_TELLS_IN_GIT = {"commit", "tag", "notes", "merge", "stash"}


def is_mentioned(rule: tuple[str, ...], words: Sequence[str], spelling: Spelling) -> bool:
    """One word alone is no mention: `docker rm` is not `rm`. In a text for another program it is one."""
    if not rule:
        return False
    known = words[1:_MOST_WORDS]
    if len(rule) > 1 and any(_stands_at(rule, known, at, spelling) for at in range(len(known))):
        return True
    return any(is_in_text(rule, word, spelling) for word in words)


def is_in_text(rule: tuple[str, ...], text: str, spelling: Spelling) -> bool:
    name = rule[0].rpartition("/")[2] if rule else ""
    if not name or name not in text or not any(map(str.isspace, text.strip())):
        return False
    tokens = _TOKEN.findall(_ONE_LETTER.sub(" ", text, count=1) if text.startswith("-") else text)
    return any(_stands_at(rule, tokens, at, spelling) for at in range(len(tokens)))


def _stands_at(rule: tuple[str, ...], words: Sequence[str], at: int, spelling: Spelling) -> bool:
    name = rule[0].rpartition("/")[2]
    return name in words[at] and likeness(rule, words[at : at + _MOST_WORDS], spelling) == "yes"


def is_understood(words: Sequence[str]) -> bool:
    """Does this vector run nothing that its words name: it only reads, it is a known build, or it tells something?"""
    if not words or (words[0] in PROGRAMS and PROGRAMS[words[0]].tells):
        return True
    if words[0] == "git" and len(words) > 1 and words[1] in _TELLS_IN_GIT:
        return True
    vector = [Word(each) for each in words]
    place = Place(sandboxed=True, anywhere=True)
    try:
        recognise(vector, place)
    except Refused:
        return is_known_use(vector, place)
    return True
