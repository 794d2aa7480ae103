"""The table of all known programs, put together from the files for each kind, and lookups in it."""

import re
from functools import lru_cache

from coderelay.policy.shell.programs.build_tools import BUILD_TOOLS
from coderelay.policy.shell.programs.dangerous_and_network_programs import SYSTEM_PROGRAMS
from coderelay.policy.shell.programs.file_readers import FILE_READERS
from coderelay.policy.shell.programs.find import FIND
from coderelay.policy.shell.programs.git import GIT
from coderelay.policy.shell.programs.other_read_only_programs import ARCHIVERS, PLAIN, PROCESS_VIEWERS
from coderelay.policy.shell.programs.program_spec import Build, Program
from coderelay.policy.shell.programs.sed_awk_jq import LANGUAGES
from coderelay.policy.shell.programs.shells_and_wrappers import SHELLS, WRAPPERS

ALL_TABLES = (
    FILE_READERS, LANGUAGES, PLAIN, PROCESS_VIEWERS, ARCHIVERS, {"find": FIND, "git": GIT}, BUILD_TOOLS, WRAPPERS,
    SHELLS, SYSTEM_PROGRAMS,
)  # fmt: skip
PROGRAMS: dict[str, Program] = {name: program for kind in ALL_TABLES for name, program in kind.items()}
_UNKNOWN = Program()
_VERSIONED = re.compile(r"(python|perl|ruby|node|php)[\d.]+|(mkfs).+")
_LONGEST_BUILD = max(len(words) for each in PROGRAMS.values() for words in each.builds)


def base_name(word: str) -> str:
    return word.rpartition("/")[2]


@lru_cache(maxsize=512)
def find_program(word: str) -> Program:
    """Looks up a program by its name alone, whatever its folder and version. For checks that look for danger."""
    name = base_name(word)
    found = PROGRAMS.get(name)
    if found is None and (versioned := _VERSIONED.fullmatch(name)):
        found = PROGRAMS.get(versioned[1] or versioned[2])
    return found or _UNKNOWN


def system_name(word: str) -> str:
    """The name of a program. A path is reduced to its name only in the system's own folders, and kept otherwise."""
    folder, _, name = word.rpartition("/")
    return name if folder in ("/bin", "/usr/bin") else word


def system_program(word: str) -> Program:
    """The program that this word surely starts. For checks that prove that a command is harmless."""
    return PROGRAMS.get(system_name(word), _UNKNOWN)


def find_build(words: tuple[str, ...]) -> tuple[tuple[str, ...], Build] | None:
    """The longest sequence of first words that names a known build or change, and what is known about it."""
    builds = PROGRAMS.get(words[0] if words else "", _UNKNOWN).builds
    for end in range(min(_LONGEST_BUILD, len(words) - 1) + 1, 0, -1):
        if found := builds.get(words[1:end]):
            return words[:end], found
    return None
