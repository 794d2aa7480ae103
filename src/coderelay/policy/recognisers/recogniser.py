"""Does one argument vector only read? Every program we know, and nothing else."""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from coderelay.policy.recognisers.archives import lists_archive, recognise_tar, recognise_unzip
from coderelay.policy.recognisers.find import recognise_find
from coderelay.policy.recognisers.git import has_git_table, recognise_git
from coderelay.policy.recognisers.languages import recognise_awk, recognise_jq, recognise_sed
from coderelay.policy.recognisers.options import Options, Refused, check
from coderelay.policy.recognisers.paths import Place
from coderelay.policy.recognisers.plain import (
    PIP,
    VERSIONS,
    recognise_command,
    recognise_date,
    recognise_echo,
    recognise_pip,
    recognise_printenv,
    recognise_printf,
    recognise_test,
    recognise_ulimit,
)
from coderelay.policy.recognisers.processes import (
    recognise_jobs,
    recognise_lsof,
    recognise_netstat,
    recognise_pgrep,
    recognise_ps,
    recognise_pstree,
    recognise_ss,
    recognise_top,
)
from coderelay.policy.recognisers.readers import READERS, SEARCHERS
from coderelay.policy.recognisers.wrappers import WRAPPERS, unwrap
from coderelay.policy.shell_words import Word
from coderelay.protocol.obeyed_files import obeyed_by
from coderelay.protocol.translatable import say

_TABLES: dict[str, Options] = {**READERS, **SEARCHERS}
_OWN_RULES: dict[str, Callable[[Sequence[Word], Place], object]] = {
    "git": recognise_git,
    "sed": recognise_sed,
    "awk": recognise_awk,
    "gawk": recognise_awk,
    "jq": recognise_jq,
    "echo": recognise_echo,
    "printf": recognise_printf,
    "test": recognise_test,
    "date": recognise_date,
    "command": recognise_command,
    "printenv": recognise_printenv,
    "ulimit": recognise_ulimit,
    "pip": recognise_pip,
    "pip3": recognise_pip,
    "tar": recognise_tar,
    "unzip": recognise_unzip,
    "ps": recognise_ps,
    "top": recognise_top,
    "pgrep": recognise_pgrep,
    "pstree": recognise_pstree,
    "ss": recognise_ss,
    "netstat": recognise_netstat,
    "lsof": recognise_lsof,
    "jobs": recognise_jobs,
}
_EDITS: dict[str, Options] = {
    "mkdir": Options(short="pv", long=("--parents", "--verbose")),
    "touch": Options(short="acm"),
}
MOST_WRAPPERS = 8
_NEVER_EDITED = {".git", ".coder"}


def recognise(words: Sequence[Word], place: Place) -> None:
    """Returns when the vector is proved to only read; otherwise Refused says what is in the way."""
    name, rest = program(words[0].text), words[1:]
    place = replace(place, reading=True)
    for _ in range(MOST_WRAPPERS):
        if name not in WRAPPERS:
            break
        words = unwrap(name, rest)
        name, rest = program(words[0].text), words[1:]
    if len(rest) == 1 and rest[0].text in VERSIONS.get(name, ()):
        return
    if name == "find":
        inner = recognise_find(rest, place)
        if inner is not None:
            recognise(inner, place)
    elif name in _OWN_RULES:
        _OWN_RULES[name](rest, place)
    elif name in _TABLES:
        check(rest, _TABLES[name], place)
    else:
        raise Refused(say("{program} is not known to only read", program=name))


def recognise_edit(words: Sequence[Word], place: Place) -> None:
    """Returns when the vector only makes empty files and folders beneath the workspace."""
    name = program(words[0].text)
    if name not in _EDITS:
        raise Refused(say("{program} is not known to only edit", program=name))
    if any(word.glob for word in words):
        raise Refused("a pattern is not a plain word")
    for path in check(words[1:], _EDITS[name], place).paths:
        if {part.lower() for part in path.split("/")} & _NEVER_EDITED or obeyed_by(path):
            raise Refused(say("{path} belongs to a tool that would run it", path=path))


def has_table(words: Sequence[str]) -> bool:
    """Is it known which options this program, with this subcommand, takes to only read?"""
    name, rest = program(words[0]), words[1:]
    match name:
        case "git":
            return has_git_table(rest)
        case "pip" | "pip3":
            return bool(rest) and rest[0] in PIP
        case "tar" | "unzip":
            return bool(rest) and lists_archive(name, rest[0])
        case _:
            return name == "find" or name in _OWN_RULES or name in _TABLES


def program(word: str) -> str:
    """The name of a program; one that is given by a path is itself only in the system's own folders."""
    folder, _, name = word.rpartition("/")
    return name if folder in ("/bin", "/usr/bin") else word
