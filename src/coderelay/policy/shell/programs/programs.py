"""The one table of programs, put together from the files that know each kind of them."""

import re
from functools import lru_cache

from coderelay.policy.shell.build_programs import BUILDERS
from coderelay.policy.shell.programs.find import FIND
from coderelay.policy.shell.programs.git import GIT
from coderelay.policy.shell.programs.options import Build, Program
from coderelay.policy.shell.programs.readers import READERS
from coderelay.policy.shell.programs.script_programs import LANGUAGES
from coderelay.policy.shell.programs.shell_programs import SHELLS
from coderelay.policy.shell.programs.small_programs import ARCHIVERS, PLAIN, PROCESS_VIEWERS
from coderelay.policy.shell.programs.system_programs import MACHINE
from coderelay.policy.shell.programs.wrappers import WRAPPERS

KINDS = (
    READERS, LANGUAGES, PLAIN, PROCESS_VIEWERS, ARCHIVERS, {"find": FIND, "git": GIT}, BUILDERS, WRAPPERS, SHELLS,
    MACHINE,
)  # fmt: skip
PROGRAMS: dict[str, Program] = {name: program for kind in KINDS for name, program in kind.items()}

_UNKNOWN = Program()
_VERSIONED = re.compile(r"(python|perl|ruby|node|php)[\d.]+|(mkfs)\..*")
_LONGEST_BUILD = max(len(words) for each in PROGRAMS.values() for words in each.builds)


def base_name(word: str) -> str:
    return word.rpartition("/")[2]


@lru_cache(maxsize=512)
def find_program(word: str) -> Program:
    """By the name alone, wherever the program is and whatever its version. For those who look for danger."""
    name = base_name(word)
    found = PROGRAMS.get(name)
    if found is None and (versioned := _VERSIONED.fullmatch(name)):
        found = PROGRAMS.get(versioned[1] or versioned[2])
    return found or _UNKNOWN


def system_name(word: str) -> str:
    """The name of a program; one that is given by a path is itself only in the system's own folders."""
    folder, _, name = word.rpartition("/")
    return name if folder in ("/bin", "/usr/bin") else word


def system_program(word: str) -> Program:
    """The program that this word surely starts. For those who prove that a command is harmless."""
    return PROGRAMS.get(system_name(word), _UNKNOWN)


def find_build(words: tuple[str, ...]) -> tuple[tuple[str, ...], Build] | None:
    """The first words that name a known build or change, as many of them as possible, and what is known about it."""
    builds = PROGRAMS.get(words[0] if words else "", _UNKNOWN).builds
    for end in range(min(_LONGEST_BUILD, len(words) - 1) + 1, 0, -1):
        if found := builds.get(words[1:end]):
            return words[:end], found
    return None
