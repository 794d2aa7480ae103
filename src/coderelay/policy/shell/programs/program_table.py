"""The table of all known programs, put together from the files for each kind, and lookups in it."""

import re
from collections.abc import Sequence
from functools import lru_cache

from coderelay.policy.shell.parser import Word
from coderelay.policy.shell.programs.build_tools import BUILD_TOOLS
from coderelay.policy.shell.programs.file_readers import FILE_READERS
from coderelay.policy.shell.programs.find import FIND
from coderelay.policy.shell.programs.git import GIT
from coderelay.policy.shell.programs.options import EVERY_USE, Build, CommandFolders, NotReadOnly, Program
from coderelay.policy.shell.programs.sed_awk_jq import LANGUAGES
from coderelay.policy.shell.programs.system_utilities import ARCHIVERS, PLAIN, PROCESS_VIEWERS
from coderelay.policy.shell.programs.wrappers import WRAPPERS

_KEYWORDS = ("then", "do", "else", "!", "{", "(", "if", "elif", "while", "until", "coproc", "exec", "builtin")
_NAMES_OF_SHELLS = (
    "sh", "dash", "zsh", "ksh", "ash", "rbash", "mksh", "lksh", "yash", "posh", "csh", "tcsh", "bash5", "bash4",
    "ksh93", "rksh", "oksh", "loksh", "pdksh", "rzsh", "hush", "osh",
)  # fmt: skip
_IMAGES = frozenset(("pull", "push", "login", "build"))
_ONLINE = (
    "sftp", "ftp", "telnet", "ping", "dig", "nslookup", "apt", "apt-get", "dnf", "yum", "apk", "brew", "aws",
    "gcloud", "az",
)  # fmt: skip
SYSTEM_PROGRAMS: dict[str, Program] = {
    **dict.fromkeys(("rm", "unlink"), Program(danger="it removes files")),
    "rmdir": Program(danger="it removes folders"),
    "shred": Program(danger="it destroys files"),
    "truncate": Program(danger="it empties files"),
    "dd": Program(danger="it writes raw data"),
    "mkfs": Program(danger="it formats a disk"),
    **dict.fromkeys(("fdisk", "parted"), Program(danger="it changes a disk")),
    **dict.fromkeys(("mount", "umount"), Program(danger="it changes what is mounted")),
    **dict.fromkeys(
        ("shutdown", "reboot", "halt", "poweroff"), Program(danger="it shuts down or restarts the machine")
    ),
    **dict.fromkeys(("kill", "killall", "pkill"), Program(danger="it kills processes")),
    **dict.fromkeys(("chmod", "chattr", "setfacl"), Program(danger="it changes file permissions")),
    "chown": Program(danger="it changes file owners"),
    **dict.fromkeys(("crontab", "at"), Program(runs_input=True, danger="it schedules something to run later")),
    **dict.fromkeys(("systemctl", "service", "launchctl"), Program(danger="it changes services")),
    "iptables": Program(danger="it changes the network"),
    **dict.fromkeys(("useradd", "usermod", "passwd"), Program(danger="it changes accounts")),
    "docker": Program(
        danger="it can reach the whole machine", publishes="push", network=_IMAGES, version=("--version", "-v")
    ),
    "podman": Program(danger="it can reach the whole machine", network=_IMAGES),
    "terraform": Program(danger="it changes infrastructure"),
    "kubectl": Program(danger="it changes a cluster", network=EVERY_USE),
    "ssh": Program(
        danger="it works on another machine", network=EVERY_USE, command_at=1, command_texts="each", runs_input=True
    ),
    "scp": Program(danger="it copies to or from another machine", network=EVERY_USE),
    "rsync": Program(danger="it copies and may remove files"),  # it uses the network if an operand names a machine
    **dict.fromkeys(("nc", "ncat"), Program(danger="it opens a connection", network=EVERY_USE, fetches=True)),
    "socat": Program(danger="it opens a connection"),
    "curl": Program(danger="it uses the network", network=EVERY_USE, fetches=True, version=("--version",)),
    "wget": Program(danger="it uses the network", network=EVERY_USE, fetches=True),
    "aria2c": Program(network=EVERY_USE, fetches=True),
    "fetch": Program(fetches=True),
    "gh": Program(network=EVERY_USE, publishes="release", version=("--version",), words_are_messages=True),
    "glab": Program(network=EVERY_USE, words_are_messages=True),
    **dict.fromkeys(_ONLINE, Program(network=EVERY_USE)),
}


def recognise_command(words: Sequence[Word], folders: CommandFolders) -> None:
    if not words or words[0].text not in ("-v", "-V") or any(word.glob for word in words):
        raise NotReadOnly("command runs a program")


SHELLS: dict[str, Program] = {
    **dict.fromkeys(_NAMES_OF_SHELLS, Program(interprets="commands")),
    "bash": Program(interprets="commands", version=("--version",)),
    "fish": Program(interprets="commands", text_options=("--init-command",)),
    "pwsh": Program(interprets="commands"),
    "nu": Program(interprets="commands", text_options=("-e", "--execute"), own_syntax=True),
    **dict.fromkeys(("elvish", "xonsh", "ysh", "ion", "murex"), Program(interprets="commands", own_syntax=True)),
    **dict.fromkeys(("perl", "ruby"), Program(interprets="code", version=("-v", "--version"))),
    "php": Program(interprets="code", version=("-v",)),
    "osascript": Program(interprets="code"),
    **dict.fromkeys(("tclsh", "lua", "m4", "ed", "ex", "batch"), Program(runs_input=True)),
    **dict.fromkeys(_KEYWORDS, Program(command_at=0)),
    "command": Program(recognise=recognise_command, only_names=True, command_at=0),
    "cd": Program(only_names=True),
    "hash": Program(adds_words=True),
    **dict.fromkeys(("eval", "trap"), Program(command_texts="joined", danger="it runs a string as a command")),
    **dict.fromkeys(("source", "."), Program(interprets="file", danger="it runs a file in the shell")),
    "alias": Program(command_texts="each", danger="it redefines a command name"),
    **dict.fromkeys(("mapfile", "readarray", "compgen", "complete"), Program(command_texts="each")),
    "history": Program(danger="it shows or changes the shell's history"),
    "export": Program(danger="it changes the environment of later programs"),
}
ALL_TABLES = (
    FILE_READERS, LANGUAGES, PLAIN, PROCESS_VIEWERS, ARCHIVERS, {"find": FIND, "git": GIT}, BUILD_TOOLS, WRAPPERS,
    SHELLS, SYSTEM_PROGRAMS,
)  # fmt: skip
PROGRAMS: dict[str, Program] = {name: program for kind in ALL_TABLES for name, program in kind.items()}
_UNKNOWN = Program()
_VERSIONED = re.compile(r"(python|perl|ruby|node|php)[\d.]+|(mkfs)\..*")
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
