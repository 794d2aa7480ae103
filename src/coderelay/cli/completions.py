"""`coder completions bash|zsh|fish`: print a script that completes commands, options, sessions and models."""

import sys
from collections.abc import Iterator

from coderelay.cli.startup.localized_argument_parser import AGENTS, SUBCOMMANDS, LocalizedArgumentParser
from coderelay.client.i18n import t
from coderelay.protocol.modes import MODE_NAMES

_BASH = """\
_coder() {
    local line="${COMP_LINE:0:COMP_POINT}" IFS=$'\\n'
    local word="${line##* }"
    COMPREPLY=($(coder completions --line "$line" 2>/dev/null))
    COMPREPLY=("${COMPREPLY[@]%%$'\\t'*}")
    if [[ $word == *:* && $COMP_WORDBREAKS == *:* ]]; then
        COMPREPLY=("${COMPREPLY[@]#"${word%"${word##*:}"}"}")
    fi
}
complete -o default -F _coder coder
"""
_ZSH = """\
#compdef coder
_coder() {
    local -a found
    found=("${(@f)$(coder completions --line "${(j: :)words[1,CURRENT]}" 2>/dev/null)}")
    found=("${(@)found//:/\\\\:}")
    found=("${(@)found//$'\\t'/:}")
    [[ -n "$found" ]] && _describe coder found || _files
}
if [[ "$funcstack[1]" == _coder ]]; then _coder "$@"; else compdef _coder coder; fi
"""
_FISH = """\
complete -c coder -a '(coder completions --line (commandline -cp) 2>/dev/null)'
"""
SCRIPTS = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}

_SESSION_OPTIONS = (
    *("--mode", "--permission-mode", "--full-auto", "--dangerously-skip-permissions", "--yolo"),
    *("--dangerously-bypass-approvals-and-sandbox", "--model", "--agent", "--allowed-tools", "--unattended"),
    *("--max-steps", "--max-turns", "--append-system-prompt", "--add-dir", "--cwd", "--cd"),
)
# Words in capitals stand for names that are looked up.
COMMANDS: dict[str, tuple[str, ...]] = {
    "": (
        *SUBCOMMANDS,
        *("--print", "--prompt", "--output", "--output-format", "--verbose", "--resume", "--continue", "--here"),
        *_SESSION_OPTIONS,
        "--version",
    ),
    "web": ("--host", "--port", "--no-open", "--dev"),
    "app": ("--port",),
    "acp": ("--listen",),
    "feishu": ("link", "unlink", "--webhook", "--host", "--port"),
    "feishu link": (),
    "feishu unlink": (),
    "sessions": ("list", "search", "show", "export", "delete", "backup"),
    "sessions list": ("--here", "--json", "--limit"),
    "sessions search": ("--here", "--json", "--limit"),
    "sessions show": ("SESSION", "--diff"),
    "sessions export": ("SESSION",),
    "sessions delete": ("SESSION",),
    "sessions backup": (),
    "resume": ("SESSION", "--here", "--last", *_SESSION_OPTIONS),
    "asks": ("--json",),
    "answer": ("ASK", "--no-wait"),
    "permissions": ("list", "revoke", "check", "trust", "untrust", "--session"),
    "permissions list": (),
    "permissions revoke": ("APPROVAL",),
    "permissions check": ("--mode", "--stdin"),
    "permissions trust": ("--yes",),
    "permissions untrust": (),
    "mcp": ("list", "add", "remove"),
    "mcp list": (),
    "mcp add": ("--url", "--env", "--header", "--bearer-token-env-var"),
    "mcp remove": ("SERVER",),
    "model": ("list", "install", "add", "remove"),
    "model list": (),
    "model install": ("OFFER", "--yes"),
    "model add": ("--name", "--copy"),
    "model remove": ("LOCAL",),
    "doctor": ("--json",),
    "completions": tuple(SCRIPTS),
}
VALUES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("--output", "--output-format"), ("text", "json", "stream-json")),
    **dict.fromkeys(("--mode", "--permission-mode"), MODE_NAMES),
    **dict.fromkeys(("-m", "--model"), ("MODEL",)),
    "--agent": AGENTS,
    **dict.fromkeys(("-r", "--resume"), ("SESSION",)),
    "--session": ("SESSION",),
    "--unattended": ("park", "deny", "allow"),
    **dict.fromkeys(("-p", "--print", "--prompt", "--allowed-tools", "--max-steps", "--max-turns"), ()),
    **dict.fromkeys(("--append-system-prompt", "--add-dir", "-C", "--cwd", "--cd", "--limit", "--name"), ()),
    **dict.fromkeys(("--url", "--env", "--header", "--bearer-token-env-var", "--host", "--port", "--listen"), ()),
}


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--line"]:
        found = offers(" ".join(arguments[1:]))
        sys.stdout.writelines(f"{word}\t{meaning}\n" if meaning else f"{word}\n" for word, meaning in found)
        return 0
    parser = LocalizedArgumentParser(prog="coder completions", description=t(__doc__ or ""), allow_abbrev=False)
    parser.add_argument("shell", choices=tuple(SCRIPTS), help=t("the shell that the script is for"))
    sys.stdout.write(SCRIPTS[parser.parse_args(arguments).shell])
    return 0


def offers(line: str) -> Iterator[tuple[str, str]]:
    """The words that may complete the line, each with a description. None where a file is expected, because the shell
    completes file names itself."""
    before, _, begun = line.rpartition(" ")
    for expected in _expected(before.split()[1:]):
        if expected.isupper():
            from coderelay.cli.shell_completion_names import completion_names  # only these need the app

            yield from (each for each in completion_names(expected) if each[0].startswith(begun))
        elif expected.startswith(begun) and expected.startswith("-") == begun.startswith("-"):
            yield expected, ""


def _expected(words: list[str]) -> tuple[str, ...]:
    command, given, option = "", 0, ""
    for word in words:
        if option:
            option = ""
        elif word in VALUES:
            option = word
        elif word == "--":
            return ()
        elif not given and (longer := f"{command} {word}".strip()) in COMMANDS:
            command = longer
        elif not word.startswith("-"):
            given += 1
    if option:
        return VALUES[option]
    options = tuple(each for each in COMMANDS[command] if each.startswith("-"))
    return (*options, "--help") if given else (*COMMANDS[command], "--help")
