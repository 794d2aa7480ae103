"""All that is known about one program."""

from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from coderelay.policy.shell.programs.command_folders_and_not_read_only import CommandFolders
from coderelay.policy.shell.programs.harmless_option_check import Options
from coderelay.policy.shell.strict_bash_parser import Word

Recogniser = Callable[[Sequence[Word], CommandFolders], Sequence[Word] | None]
"""Raises NotReadOnly unless the program only reads when it is given these words. Returns the command that the program
starts in turn, if any, which must be recognised as well."""
TrackedPaths = Callable[[Sequence[str]], tuple[list[str], bool]]
"""The paths below which tracked files are shown, and whether files that are not tracked are shown too."""
EVERY_USE: frozenset[str] = frozenset()
# An option that a program does not have does no harm here.
_WITH_VALUE = frozenset(("-C", "-c", "--git-dir", "--work-tree", "--prefix", "--cwd", "--project", "--directory"))


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
    true for programs that look for a pattern in files. `whole` says when all files of a folder are read: `always`; if
    an option says `recursive`; by the subcommand `grep`; by `actions` such as -exec; or never, but `names` are told
    that another program may read. If `listing` has any words, its output is a list of names only with one of them.
    `shown_paths` finds the paths whose tracked files are shown, and whether other
    files are shown too.

    `value_options` are those options before a subcommand that take the next word as their value. `messages` lists the
    subcommands whose words are messages for people, and none of them is run; EVERY_USE means all uses. With
    `joins_subcommand`, a program called `git-push` is `git push`. `renaming` are the options that may give a
    subcommand another name.

    Other commands in its words: `command_at` is how many operands of its own stand before the command that the
    program starts, or None if it starts none. If `plain_start` is true, `unwrap` knows its options and finds that
    command exactly. A command also stands behind each of the words in `command_after`. `adds_words` says that the
    command gets more words than are written. `command_texts` says that `each` word may be the text of a command, or
    that all words `joined` are one.

    Interpreters run `commands` (a shell), `code` in another language, or a `file` in the present shell. A shell runs
    the text behind `-c`, and behind the `text_options` that it has beside that one. The text of a shell with its
    `own_syntax` may hold commands that bash would not see. `modules` are programs that it runs as `-m NAME`.
    `runs_input` says that the program runs its input, or
    programs that its input names.

    Danger: `danger` is the reason why a person is asked, `find_danger` finds it from the words, and `publishes` is a
    subcommand that publishes something. `find_destruction` finds the reason why a use is refused, because it destroys
    the machine. `network` lists the subcommands that talk to other machines; EVERY_USE means that the program always
    does. With `network_alone` it does so without any words, and if a word matches `remote_operand`, that names a
    machine. `names_hosts` says that the words of a program without such a right may be names of machines too.
    `fetches` says that what it prints comes from another machine.
    """

    reads: Options | None = None
    recognise: Recogniser | None = None
    version: tuple[str, ...] = ()
    edits: Options | None = None
    builds: Mapping[tuple[str, ...], Build] = {}
    only_names: bool = False
    searches: bool = False
    whole: Literal["", "always", "recursive", "grep", "actions", "names"] = ""
    listing: frozenset[str] = frozenset()
    shown_paths: TrackedPaths | None = None
    value_options: frozenset[str] = _WITH_VALUE
    messages: frozenset[str] | None = None
    joins_subcommand: bool = False
    renaming: str = ""
    command_at: int | None = None
    plain_start: bool = False
    command_after: tuple[str, ...] = ()
    adds_words: bool = False
    command_texts: Literal["", "each", "joined"] = ""
    interprets: Literal["", "commands", "code", "file"] = ""
    text_options: tuple[str, ...] = ()
    own_syntax: bool = False
    modules: tuple[str, ...] = ()
    runs_input: bool = False
    danger: str = ""
    find_danger: Callable[[Sequence[str]], str | None] | None = None
    find_destruction: Callable[[Sequence[str]], str | None] | None = None
    publishes: str = ""
    network: frozenset[str] | None = None
    network_alone: bool = False
    remote_operand: str = ""
    names_hosts: bool = False
    fetches: bool = False
