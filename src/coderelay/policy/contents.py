"""The files whose contents a command would show: those it names, and those that a search through a folder meets.

The host looks on the disk whether there is a file of secrets among them.
"""

import posixpath
import re
from collections.abc import Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from coderelay.policy.recognisers.options import Refused, check
from coderelay.policy.recognisers.paths import Place
from coderelay.policy.recognisers.readers import SEARCHERS
from coderelay.policy.recognisers.recogniser import program
from coderelay.policy.recognisers.wrappers import WRAPPERS
from coderelay.policy.shell_words import MOST_CHARACTERS, NotLiteral, Script, Word, odd_character, parse, read_script

_MOST_FOLDERS = 32
# These show names, sizes and times, but nothing that is in a file.
_NAMES_ONLY = {
    "ls", "tree", "stat", "file", "du", "df", "basename", "dirname", "realpath", "readlink", "which", "type", "test",
    "echo", "printf", "pwd", "cd", "true", "false", ":", "sleep", "seq", "wc", "md5sum", "sha1sum", "sha256sum",
    "sha512sum", "cksum", "tar", "unzip", "mkdir", "touch", "ps", "date", "id", "command",
}  # fmt: skip
_GIT_SHOWS = {"diff", "show", "grep", "whatchanged", "format-patch", "range-diff"}
_GIT_SHOWS_PATCH = {"log", "stash", "reflog", "rev-list", "diff-tree", "diff-index", "diff-files"}
_PATCH = re.compile(r"-[a-oq-zA-Z]*[pucL].*|--patch.*|--cc|--unified.*|--function-context")
_NO_PATCH = re.compile(r"--(?:stat|shortstat|numstat|dirstat|name-only|name-status|summary|no-patch|quiet|raw).*|-s")
_RECURSIVE = re.compile(r"-[A-Za-z]*[rR][A-Za-z]*|--(?:dereference-)?recursive")
_FOLLOWS = re.compile(r"-[A-Za-z]*R[A-Za-z]*|--dereference-recursive")
_RG_FOLLOWS = re.compile(r"-[A-Za-z.]*L[A-Za-z.]*|--follow")
_RG_HIDDEN = re.compile(r"-[A-Za-z]*\.[A-Za-z.]*|--hidden")
_RUNS = {"-exec", "-execdir", "-ok", "-okdir"}


class Contents(Struct, frozen=True):
    """An absolute path whose content is shown; it may hold `*` and `?` of the shell.

    `deep`: all that is below it too; `follow` links there, `hidden` files too, or only what git has (`tracked`). Of
    these `only` files with such names if there are any patterns, and `without` those of such names.
    """

    path: str
    deep: bool = False
    follow: bool = False
    hidden: bool = True
    tracked: bool = False
    only: tuple[str, ...] = ()
    without: tuple[str, ...] = ()


def contents_of(command: str, folders: tuple[str, ...]) -> list[Contents]:
    """Of a command that is literal; another one is asked about anyway."""
    if len(command) > MOST_CHARACTERS or odd_character(command):
        return []
    try:
        script = read_script(command, parse(command))
    except NotLiteral:
        return []
    return list(dict.fromkeys(_of_script(script, folders)))


def _of_script(script: Script, folders: tuple[str, ...]) -> Iterator[Contents]:
    places = {folders[0] if folders else "/"}
    for command in script.commands:
        words = command.words
        for shown in _of_vector(words):
            yield from (replace(shown, path=posixpath.join(place, shown.path)) for place in places)
        if words[0].text == "cd" and len(words) == 2:  # which may not be run
            places |= {posixpath.join(place, words[1].text) for place in places}
        if len(places) > _MOST_FOLDERS:
            return
    for each in script.redirections:
        if each.operator == "<":
            yield from (Contents(posixpath.join(place, each.target)) for place in places)


def _of_vector(words: Sequence[Word]) -> Iterator[Contents]:
    name, rest = program(words[0].text), list(words[1:])
    texts = [word.text for word in rest]
    if name in WRAPPERS:
        inner = next((at for at, text in enumerate(texts) if text[:1] not in "-" and not text[:1].isdigit()), None)
        if inner is not None:
            yield from _of_vector(rest[inner:])
    elif name == "git":
        yield from _of_git(texts)
    elif name == "find":
        yield from _of_find(texts)
    elif name in SEARCHERS and (name == "rg" or any(map(_RECURSIVE.fullmatch, texts))):
        yield from _of_search(name, rest)
    elif name not in _NAMES_ONLY:
        deep = name == "diff" and any(map(_RECURSIVE.fullmatch, texts))
        spellings = {part for text in texts for part in (text, text.partition("=")[2]) if part}
        yield from (Contents(each, deep=deep, follow=deep) for each in sorted(spellings))


def _of_git(texts: Sequence[str]) -> Iterator[Contents]:
    """By default everything that the repository holds."""
    at = 0
    while at < len(texts) and texts[at].startswith("-"):
        at += 2 if texts[at] == "-C" else 1
    subcommand, rest = texts[at] if at < len(texts) else "", texts[at + 1 :]
    if subcommand in _GIT_SHOWS_PATCH:
        shows = any(map(_PATCH.fullmatch, rest))
    else:
        shows = subcommand in _GIT_SHOWS and not any(map(_NO_PATCH.fullmatch, rest))
    if not shows:
        return
    behind = rest[rest.index("--") + 1 :] if "--" in rest else ()
    untracked = subcommand == "grep" and "--untracked" in rest
    yield from (Contents(path, deep=True, tracked=not untracked) for path in behind or ["."])


def _of_find(texts: Sequence[str]) -> Iterator[Contents]:
    ran = next((at for at, text in enumerate(texts) if text in _RUNS), None)
    if ran is None or (texts[ran + 1 : ran + 2] and program(texts[ran + 1]) in _NAMES_ONLY):
        return
    plain = not {"!", "-not", "-o", "-or", ",", "("} & {*texts[:ran]}
    names = [texts[at + 1] for at in range(ran - 1) if texts[at] in ("-name", "-iname")] if plain else []
    options = [text for text in texts if text in ("-L", "-H", "-P")]
    begins = next((at for at, text in enumerate(texts) if text[:1] in ("-", "(", "!") and text not in options), 0)
    starts = [text for text in texts[:begins] if text not in options]
    for start in starts or ["."]:
        yield Contents(start, deep=True, follow="-L" in options or "-follow" in texts, only=tuple(names[:1]))


def _of_search(name: str, words: Sequence[Word]) -> Iterator[Contents]:
    texts = [word.text for word in words]
    try:
        paths: Sequence[str] = check(words, SEARCHERS[name], Place(anywhere=True, reading=True)).paths
    except Refused:
        paths = [text for text in texts if not text.startswith("-")]
    if name == "rg":
        if "--files" in texts or "--type-list" in texts:
            return
        globs = _values(texts, ("-g", "--glob", "--iglob"))
        only = tuple(each for each in globs if not each.startswith("!"))
        unrestricted = sum(text.count("u") for text in texts if re.fullmatch(r"-[A-Za-z.]+", text))
        unrestricted += texts.count("--unrestricted")
        search = Contents(
            "",
            deep=True,
            follow=any(map(_RG_FOLLOWS.fullmatch, texts)),
            hidden=bool(only) or unrestricted > 1 or any(map(_RG_HIDDEN.fullmatch, texts)),
            only=tuple(map(_last, only)),
            without=tuple(_last(each[1:]) for each in globs if each.startswith("!")),
        )
    else:
        search = Contents(
            "",
            deep=True,
            follow=any(map(_FOLLOWS.fullmatch, texts)),
            only=tuple(_values(texts, ("--include",))),
            without=tuple(_values(texts, ("--exclude", "--exclude-dir"))),
        )
    yield from (replace(search, path=path) for path in paths or ["."])


def _last(pattern: str) -> str:
    """What the name itself must look like, whatever folder it is in."""
    name = pattern.rstrip("/").rpartition("/")[2]
    return "*" if pattern.endswith("/") or "**" in name or "{" in name else name


def _values(texts: Sequence[str], options: tuple[str, ...]) -> list[str]:
    found: list[str] = []
    for at, text in enumerate(texts):
        name, joined, value = text.partition("=")
        if text in options and at + 1 < len(texts):
            found.append(texts[at + 1])
        elif joined and name in options:
            found.append(value)
        elif "-g" in options and text.startswith("-g") and len(text) > 2:
            found.append(text[2:])
    return found
