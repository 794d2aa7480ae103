"""Which files' contents a command would show: those it names, and those that a search through a folder reads.

The host checks on the disk whether there is a file of secrets among them.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from coderelay.policy.shell.programs.command_folders_and_not_read_only import CommandFolders, NotReadOnly
from coderelay.policy.shell.programs.find import RUN_ACTIONS
from coderelay.policy.shell.programs.harmless_option_check import Operands, Options, OptionWord, check
from coderelay.policy.shell.programs.program_spec import Program
from coderelay.policy.shell.programs.program_table import system_program
from coderelay.policy.shell.programs.read_only_check import without_wrappers
from coderelay.policy.shell.strict_bash_parser import Script, Word, literal_script

_MOST_FOLDERS = 32
_PLAIN_PATTERN = re.compile(r"[\w.*?@%+=, -]+")


class ShownContent(Struct, frozen=True):
    """An absolute path whose content is shown; it may hold the shell wildcards `*` and `?`.

    With `deep`, all files below it are shown too. There, `follow` says that links are followed, `hidden` that hidden
    files are included, and `tracked` that only files in git are shown. If `only` has any patterns, only files with
    matching names are shown, ignoring case. Files that match `without` and folders that match `without_folders` are
    left out.
    """

    path: str
    deep: bool = False
    follow: bool = False
    hidden: bool = True
    tracked: bool = False
    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    without_folders: tuple[str, ...] = ()


def contents_of(command: str, folders: tuple[str, ...]) -> list[ShownContent]:
    """What a literal command shows, and nothing for any other command, which is asked about anyway."""
    script = literal_script(command)
    return list(dict.fromkeys(_of_script(script, folders))) if script else []


def _of_script(script: Script, folders: tuple[str, ...]) -> Iterator[ShownContent]:
    places = {folders[0] if folders else "/"}
    for command in script.commands:
        words = command.words
        for shown in _of_command(words):
            yield from (replace(shown, path=posixpath.join(place, shown.path)) for place in places)
        if words[0].text == "cd" and len(words) == 2:  # the cd may not be run, so the old folders still count
            places |= {posixpath.join(place, words[1].text) for place in places}
        if len(places) > _MOST_FOLDERS:
            return
    for each in script.redirections:
        if each.operator == "<":
            yield from (ShownContent(posixpath.join(place, each.target)) for place in places)


def _of_command(words: Sequence[Word]) -> Iterator[ShownContent]:
    try:
        words = without_wrappers(words)
    except NotReadOnly:
        return  # such a command is asked about anyway
    program, rest = system_program(words[0].text), words[1:]
    texts = [word.text for word in rest]
    if program.shown_paths is not None:
        paths, untracked = program.shown_paths(texts)
        yield from (ShownContent(path, deep=True, tracked=not untracked) for path in paths)
    elif program.whole == "actions":
        yield from _of_find(texts)
    elif program.searches and program.reads is not None:
        yield from _of_search(program, program.reads, rest)
    elif not program.only_names:
        deep = program.whole == "recursive"  # given two folders, diff compares their files, recursive or not
        spellings = {part for text in texts for part in (text, text.partition("=")[2]) if part}
        yield from (ShownContent(each, deep=deep, follow=deep) for each in sorted(spellings))


def _of_find(texts: Sequence[str]) -> Iterator[ShownContent]:
    ran = next((at for at, text in enumerate(texts) if text in RUN_ACTIONS), None)
    if ran is None or (texts[ran + 1 : ran + 2] and system_program(texts[ran + 1]).only_names):
        return
    plain = not {"!", "-not", "-o", "-or", ",", "("} & {*texts[:ran]}
    names = [_may_be(texts[at + 1]) for at in range(ran - 1) if texts[at] in ("-name", "-iname")] if plain else []
    options = [text for text in texts if text in ("-L", "-H", "-P")]
    begins = next((at for at, text in enumerate(texts) if text[:1] in ("-", "(", "!") and text not in options), 0)
    starts = [text for text in texts[:begins] if text not in options]
    for start in starts or ["."]:
        yield ShownContent(start, deep=True, follow="-L" in options or "-follow" in texts, only=tuple(names[:1]))


def _of_search(program: Program, known: Options, words: Sequence[Word]) -> Iterator[ShownContent]:
    """What grep or rg shows: everything below the current folder and below its words, if an option is not known."""
    try:
        operands = check(words, known, CommandFolders(anywhere=True, reading=True))
    except NotReadOnly:
        yield from (ShownContent(text, deep=True, follow=True) for text in [".", *(word.text for word in words)])
        return
    found = _OfRipgrep if program.whole == "always" else _OfGrep
    yield from found(operands).contents()


class _SearchOptions:
    """The options of a search and their values, which say which files are searched."""

    def __init__(self, operands: Operands) -> None:
        self.paths = operands.paths or (".",)
        self.names = [name for each in operands.given for name in each.names]
        self.values = [(each.names[-1], _value(each)) for each in operands.given if each.names]

    def has(self, *names: str) -> bool:
        return not {*names}.isdisjoint(self.names)


class _OfGrep(_SearchOptions):
    def contents(self) -> Iterator[ShownContent]:
        listed = [option for option, _ in self.values if option in ("--include", "--exclude")]
        last = max((at for at, option in enumerate(listed) if option == "--include"), default=-1)
        excluded = [value for option, value in self.values if option == "--exclude"]
        search = ShownContent(
            "",
            deep=self.has("-r", "-R", "--recursive", "--dereference-recursive", "-d"),
            follow=self.has("-R", "--dereference-recursive"),
            # grep obeys the last --include or --exclude that matches; if none does, the first one sets the default.
            only=tuple(_may_be(value) for option, value in self.values if option == "--include")
            if listed[:1] == ["--include"]
            else (),
            without=_patterns_meaning_the_same_everywhere(excluded[listed[: last + 1].count("--exclude") :]),
            without_folders=_patterns_meaning_the_same_everywhere(
                value for option, value in self.values if option == "--exclude-dir"
            ),
        )
        named = [value for option, value in self.values if option in ("-f", "--file")]
        yield from (replace(search, path=path) for path in (*self.paths, *named))


class _OfRipgrep(_SearchOptions):
    def contents(self) -> Iterator[ShownContent]:
        if self.has("--files", "--type-list"):
            return
        globs = [value for option, value in self.values if option in ("-g", "--glob", "--iglob")]
        only = [each for each in globs if not each.startswith("!")]
        behind = globs[max((at for at, each in enumerate(globs) if each in only), default=-1) + 1 :]
        search = ShownContent(
            "",
            deep=True,
            follow=self.has("-L", "--follow"),
            hidden=bool(only)
            or self.has("-.", "--hidden")
            or self.names.count("-u") + self.names.count("--unrestricted") > 1,
            only=tuple(_may_be(each.rstrip("/").rpartition("/")[2]) if each[-1:] != "/" else "*" for each in only),
            without=_patterns_meaning_the_same_everywhere(each[1:] for each in behind),
            without_folders=_patterns_meaning_the_same_everywhere(each[1:].rstrip("/") for each in behind),
        )
        named = [value for option, value in self.values if option in ("-f", "--file")]
        yield from (replace(search, path=path) for path in (*self.paths, *named))


def _value(given: OptionWord) -> str:
    """The value of an option: a word of its own, behind `=`, or joined to a letter."""
    written, *value = given.words
    option = given.names[-1]
    return value[0] if value else written.partition("=" if option.startswith("--") else option[1:])[2]


def _may_be(pattern: str) -> str:
    """A pattern that matches at least the same names, because programs differ in their pattern syntax."""
    return pattern if _PLAIN_PATTERN.fullmatch(pattern) and "**" not in pattern else "*"


def _patterns_meaning_the_same_everywhere(patterns: Iterable[str]) -> tuple[str, ...]:
    """The patterns that match the same names in every program and every folder."""
    return tuple(each for each in patterns if _PLAIN_PATTERN.fullmatch(each))
