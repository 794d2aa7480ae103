"""Shells, interpreters, and what else runs the words or texts that it is given as commands."""

from collections.abc import Sequence

from coderelay.policy.shell.programs.allowed_folders import CommandFolders, NotReadOnly
from coderelay.policy.shell.programs.program_spec import Program
from coderelay.policy.shell.strict_bash_parser import Word

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
