"""Programs that run other commands, which are judged themselves: shells, interpreters, timeout, env, sudo, xargs …"""

import re
from collections.abc import Sequence

from coderelay.policy.shell.programs.command_folders_and_not_read_only import CommandFolders, NotReadOnly
from coderelay.policy.shell.programs.program_spec import Program
from coderelay.policy.shell.strict_bash_parser import Word
from coderelay.protocol.translatable import say

_OTHER_PERSON = "it runs with the rights of another user"
_STARTERS = (
    "env", "nohup", "ionice", "stdbuf", "setsid", "strace", "unshare", "busybox", "ltrace", "valgrind", "perf",
    "taskset", "chrt", "numactl", "prlimit", "cpulimit", "systemd-run", "unbuffer", "rlwrap", "faketime", "fakeroot",
    "nsenter", "bwrap", "firejail", "setpriv", "setarch", "linux64", "caffeinate", "xvfb-run",
    "dbus-run-session", "torsocks", "proxychains", "start-stop-daemon", "direnv", "dotenv", "ld-linux-x86-64.so.2",
    "ld-linux-aarch64.so.1", "toybox", "linux32", "i386", "i686", "x86_64", "ssh-agent", "chronic", "proxychains4",
    "tsocks", "cross-env", "cgexec", "catchsegv", "dtruss", "truss", "rr", "heaptrack", "uftrace", "gdbserver",
    "eatmydata", "nocache", "fakechroot", "proot", "schroot", "sandbox-exec", "aa-exec", "runcon", "systemd-inhibit",
    "dbus-launch", "tini", "dumb-init", "gosu", "su-exec", "setuidgid", "envuidgid", "envdir", "softlimit", "chpst",
    "daemonize", "sshpass", "torify", "trickle", "genv", "gtimeout", "gnice", "gtime", "gstdbuf",
)  # fmt: skip
WRAPPERS: dict[str, Program] = {
    **dict.fromkeys(_STARTERS, Program(command_at=0)),
    "timeout": Program(command_at=1, plain_start=True),
    **dict.fromkeys(("nice", "time"), Program(command_at=0, plain_start=True)),
    "xargs": Program(command_at=0, plain_start=True, adds_words=True, runs_input=True),
    "gxargs": Program(command_at=0, adds_words=True, runs_input=True),
    **dict.fromkeys(
        ("parallel", "sem"), Program(command_at=0, command_texts="each", adds_words=True, runs_input=True)
    ),
    **dict.fromkeys(
        ("entr", "hyperfine", "watchexec", "runuser", "screen"), Program(command_at=0, command_texts="each")
    ),
    "chroot": Program(command_at=1),
    "watch": Program(command_at=0, command_texts="joined"),
    **dict.fromkeys(("sudo", "doas", "pkexec"), Program(command_at=0, danger=_OTHER_PERSON)),
    "su": Program(command_at=0, command_texts="each", danger=_OTHER_PERSON),
    **dict.fromkeys(("flock", "tmux"), Program(command_at=1, command_texts="each")),
    **dict.fromkeys(("script", "sg", "nix-shell", "capsh", "asciinema"), Program(command_texts="each")),
    "gdb": Program(command_after=("--args",), runs_input=True),
    "lldb": Program(command_after=("--",)),
    "nix": Program(command_after=("-c", "--command")),
}
_SECONDS = re.compile(r"\d+(?:\.\d+)?[smhd]?")
_NICE = re.compile(r"-n?\d+")
_XARGS = re.compile(r"-[0rt]*(?:[nLP]\d+)?")
_TOUCHES_NO_FILE = {"echo", "basename", "dirname"}


def unwrap(name: str, words: Sequence[Word]) -> Sequence[Word]:
    """The command that a wrapper starts. Raises NotReadOnly unless all of the wrapper's own words are known to be
    harmless."""
    rest = list(words)
    match name:
        case "timeout":
            _drop_options(rest, ("--foreground", "--preserve-status", "-v"), ("-k", "-s"))
            _drop(rest, _SECONDS)
        case "nice":
            if rest and rest[0].text == "-n":
                del rest[:1]
                _drop(rest, _SECONDS)
            elif rest and rest[0].text.startswith("-"):
                _drop(rest, _NICE)
        case "time":
            _drop_options(rest, ("-p",), ())
        case _:
            while rest and rest[0].text.startswith("-"):
                _drop(rest, _XARGS)
            if not rest or rest[0].text not in _TOUCHES_NO_FILE:
                raise NotReadOnly("xargs passes whatever it reads to a program")
    if not rest or rest[0].glob:
        raise NotReadOnly(say("{program} starts a program that cannot be checked", program=name))
    return rest


def _drop_options(rest: list[Word], alone: tuple[str, ...], with_value: tuple[str, ...]) -> None:
    while rest and rest[0].text.startswith("-"):
        option = rest.pop(0).text
        if option in with_value:
            _drop(rest, re.compile(r"[A-Z0-9]+s?"))
        elif option not in alone:
            raise NotReadOnly(say("the option {option} may change things", option=option))


def _drop(rest: list[Word], form: re.Pattern[str]) -> None:
    if not rest or not form.fullmatch(rest.pop(0).text):
        raise NotReadOnly("the program to start is not a plain word")


_KEYWORDS = ("then", "do", "else", "!", "{", "(", "if", "elif", "while", "until", "coproc", "exec", "builtin")
_NAMES_OF_SHELLS = (
    "sh", "dash", "zsh", "ksh", "ash", "rbash", "mksh", "lksh", "yash", "posh", "csh", "tcsh", "bash5", "bash4",
    "ksh93", "rksh", "oksh", "loksh", "pdksh", "rzsh", "hush", "osh",
)  # fmt: skip


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
