"""Which files' contents a command would show: those it names, and those that a search through a folder reads.

The host checks on the disk whether there is a file of secrets among them.
"""

import posixpath
import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from coderelay.policy.shell.programs.allowed_folders import CommandFolders, NotReadOnly
from coderelay.policy.shell.programs.find import RUN_ACTIONS
from coderelay.policy.shell.programs.harmless_option_check import Operands, Options, OptionWord, check
from coderelay.policy.shell.programs.program_table import system_name, system_program
from coderelay.policy.shell.programs.read_only_check import without_wrappers
from coderelay.policy.shell.strict_bash_parser import Script, Word, literal_script

_MOST_FOLDERS = 32
_GIT_SHOWS = {"diff", "show", "grep", "whatchanged", "format-patch", "range-diff"}
_GIT_SHOWS_PATCH = {"log", "stash", "reflog", "rev-list", "diff-tree", "diff-index", "diff-files"}
_PATCH = re.compile(
    r"-[A-Za-z]*[pucLUW].*|--patch.*|--cc|--unified.*|--function-context|--binary|--check|--(?:color-words|word-diff).*"
)
_NO_PATCH = re.compile(r"--(?:stat|shortstat|numstat|dirstat|name-only|name-status|summary|no-patch|quiet|raw).*|-s")
_OBJECT = re.compile(r"[0-9a-f]{4,64}", re.IGNORECASE)
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
    name, program, rest = system_name(words[0].text), system_program(words[0].text), words[1:]
    texts = [word.text for word in rest]
    if name == "git":
        yield from _of_git(texts)
    elif name == "find":
        yield from _of_find(texts)
    elif program.searches and program.reads is not None:
        yield from _of_search(name, program.reads, rest)
    elif not program.only_names:
        deep = name == "diff"  # given two folders, it compares their files, recursive or not
        spellings = {part for text in texts for part in (text, text.partition("=")[2]) if part}
        yield from (ShownContent(each, deep=deep, follow=deep) for each in sorted(spellings))


def _of_git(texts: Sequence[str]) -> Iterator[ShownContent]:
    """What a git command shows: the paths behind `--`, or else everything that the repository holds."""
    at = 0
    while at < len(texts) and texts[at].startswith("-"):
        at += 2 if texts[at] == "-C" else 1
    subcommand, rest = texts[at] if at < len(texts) else "", texts[at + 1 :]
    patch = any(map(_PATCH.fullmatch, rest))
    by_number = any(map(_OBJECT.fullmatch, rest))  # an object id may be that of a file
    if subcommand in _GIT_SHOWS_PATCH:
        shows = patch
    elif subcommand == "cat-file":
        shows = by_number and not {"-t", "-s", "-e"} & {*rest}
    else:
        quiet = any(map(_NO_PATCH.fullmatch, rest)) and not patch and not (subcommand == "show" and by_number)
        shows = subcommand in _GIT_SHOWS and not quiet
    if not shows:
        return
    behind = rest[rest.index("--") + 1 :] if "--" in rest else rest[:0]
    if any(set(path) & set(":*?[\\") for path in behind):
        behind = rest[:0]  # a git pathspec pattern may match any file
    untracked = subcommand == "grep" and "--untracked" in rest
    yield from (ShownContent(path, deep=True, tracked=not untracked) for path in behind or ["."])


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


def _of_search(name: str, known: Options, words: Sequence[Word]) -> Iterator[ShownContent]:
    """What grep or rg shows: everything below the current folder and below its words, if an option is not known."""
    try:
        operands = check(words, known, CommandFolders(anywhere=True, reading=True))
    except NotReadOnly:
        yield from (ShownContent(text, deep=True, follow=True) for text in [".", *(word.text for word in words)])
        return
    found = _OfRipgrep if name == "rg" else _OfGrep
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
            without=_surely(excluded[listed[: last + 1].count("--exclude") :]),
            without_folders=_surely(value for option, value in self.values if option == "--exclude-dir"),
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
            without=_surely(each[1:] for each in behind),
            without_folders=_surely(each[1:].rstrip("/") for each in behind),
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


def _surely(patterns: Iterable[str]) -> tuple[str, ...]:
    """The patterns that match the same names in every program and every folder."""
    return tuple(each for each in patterns if _PLAIN_PATTERN.fullmatch(each))
