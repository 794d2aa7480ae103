"""The texts of a command that a shell runs: the command itself, and each text in it for another shell.

What looks for the paths of a command looks into each of them, so that `bash -c 'cat x'` reaches what `cat x` does.
"""

import posixpath
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import Struct

from coderelay.policy.shell.possible_commands import Command, ShellText, walk
from coderelay.policy.shell.strict_bash_parser import Script, literal_script, odd_character
from coderelay.policy.shell.tree_sitter_bash import MOST_CHARACTERS

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_FOLDERS = 32
"""How many folders are followed that a command may be in."""
_JOINED_FOLDER = re.compile(r"-C(?=.)|--(?:directory|chdir)=")


class NestedText(Struct, frozen=True):
    """One text that a shell runs. `script` is its literal reading, or None if it is not literal. It may start in any
    of the `folders`."""

    script: Script | None
    root: "Node"
    folders: frozenset[str]


@lru_cache(maxsize=8)
def shell_texts(command: str, first: str) -> tuple[NestedText, ...]:
    """All texts of a command that starts in the folder `first`. A text in the command may start in any folder that
    the command moves to. Nothing for a command that is too long to read, which is asked about anyway."""
    if len(command) > MOST_CHARACTERS or odd_character(command):
        return ()
    records = walk(command)
    roots = {record.text: record.root for record in records if isinstance(record, ShellText)}
    scripts = {text: literal_script(text) for text in roots}
    start = everywhere = frozenset((first,))
    if len(roots) > 1 or not scripts[command]:
        moves = [each for record in records if isinstance(record, Command) for each in folders_entered(record.words)]
        everywhere = frozenset(folders_after(start, moves))
    return tuple(
        NestedText(script, roots[text], start if script and text == command else everywhere)
        for text, script in scripts.items()
    )


def folders_after(folders: "frozenset[str] | set[str]", moves: Sequence[str]) -> set[str]:
    """The folders in which a command may be after these moves. Each move may not be made, so the folders before it
    still count. More than MOST_FOLDERS mean that it may be anywhere."""
    found = {*folders}
    for move in moves:
        if len(found) > MOST_FOLDERS:
            break
        found |= {posixpath.join(folder, move) for folder in found}
    return found


def folders_entered(words: Sequence[str]) -> Iterator[str]:
    """The folders in which a command runs what comes after it, as `cd` does, or itself, as `-C` says."""
    if words[0] in ("cd", "pushd"):
        yield from (word for word in words[1:] if not word.startswith("-"))
        return
    yield from (following for word, following in pairwise(words) if word in ("-C", "--directory", "--chdir"))
    yield from (word[found.end() :] for word in words[1:] if (found := _JOINED_FOLDER.match(word)))
