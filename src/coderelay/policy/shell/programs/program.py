"""What is known about one program. Every program has one record, and everybody who judges a command reads it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from coderelay.policy.shell.parser import Word
from coderelay.policy.shell.programs.options import Options
from coderelay.policy.shell.programs.paths import Place

Recogniser = Callable[[Sequence[Word], Place], Sequence[Word] | None]
"""Raises Refused unless the program only reads when it is given these words. Returns the command that the program
starts in turn, which must be recognised as well."""

EVERY_USE: frozenset[str] = frozenset()


class Build(Struct, frozen=True):
    """One use of a program that runs tests or a build, or that `changes` files in a way that is easy to see.

    Only the listed options are known. `kept` are the options that a remembered command keeps, because with them or
    without them the program runs or writes something else: `--fix`, but also `--check`. Operands are `files` of the
    workspace, any of which may stand there, or `targets`, each of which does something of its own and is kept too.
    """

    options: Options = Options()
    kept: tuple[str, ...] = ()
    operands: Literal["files", "targets"] = "files"
    changes: bool = False


class Program(Struct, frozen=True):
    """The defaults describe a program about which nothing is known.

    Proofs, which may allow a command. The program only reads when it is given the options in `reads`, or words that
    `recognise` accepts, or one of the `version` options alone. It only makes files and folders when it is given the
    options in `edits`. `builds` leads from the words behind the program's name to what is known about that use.

    What is read: `names_only` programs show names, sizes and times of files but nothing that is in them. `searches`
    is true for programs that look for a pattern in files, `whole` for those that may read all files of a folder.
    `tells`: its words are written for people, and none of them is run.

    Other commands in its words. `starts` is how many operands of its own stand before the command that the program
    starts. If `plain_start` is true, `unwrap` knows its options and finds that command exactly. A command also stands
    behind each of the words in `starts_behind`. `adds_words`: the command gets more words than are written. `texts`
    says that `each` word may be the text of a command, or that all words `joined` are one.

    Interpreters run `commands` (a shell), `code` in another language, or a `file` in the present shell. A shell runs
    the text behind `-c`, and behind the `text_options` that it has beside that one. The text of a shell with its
    `own_syntax` may hold commands that bash would not see. `runs_input`: the program runs what it is given to read,
    or programs that its input names.

    Danger: `danger` is the reason why a person is asked, `find_danger` finds it from the words, and `publishes` is a
    subcommand that publishes something. `network` lists the subcommands that talk to other machines; EVERY_USE means
    that the program always does. `fetches`: what it prints comes from another machine.
    """

    reads: Options | None = None
    recognise: Recogniser | None = None
    version: tuple[str, ...] = ()
    edits: Options | None = None
    builds: Mapping[tuple[str, ...], Build] = {}
    names_only: bool = False
    searches: bool = False
    whole: bool = False
    tells: bool = False
    starts: int | None = None
    plain_start: bool = False
    starts_behind: tuple[str, ...] = ()
    adds_words: bool = False
    texts: Literal["", "each", "joined"] = ""
    interprets: Literal["", "commands", "code", "file"] = ""
    text_options: tuple[str, ...] = ()
    own_syntax: bool = False
    runs_input: bool = False
    danger: str = ""
    find_danger: Callable[[Sequence[str]], str | None] | None = None
    publishes: str = ""
    network: frozenset[str] | None = None
    fetches: bool = False
