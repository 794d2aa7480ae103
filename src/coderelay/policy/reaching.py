"""Programs that are there to talk to other machines, found anywhere in a command.

The walk is tolerant: what it does not see gets no right, and fails.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from coderelay.policy.shell_words import MOST_CHARACTERS, parse

if TYPE_CHECKING:
    from tree_sitter import Node

_DEEPEST = 3
_MOST_COMMANDS = 500
_NO_WORDS = {"variable_assignment", "file_redirect", "heredoc_redirect", "herestring_redirect"}
_SHELLS = {"sh", "bash", "dash", "zsh", "ksh"}
_WRAPPERS = {
    "sudo", "doas", "env", "nohup", "nice", "ionice", "time", "timeout", "stdbuf", "setsid", "exec", "command",
    "xargs", "watch", "then", "do", "else", "!",
}  # fmt: skip

_INSTALL = frozenset(
    ("install", "i", "add", "ci", "update", "upgrade", "up", "outdated", "audit", "publish", "view", "info")
)
# An empty set means every use of the program.
_PROGRAMS: dict[str, frozenset[str]] = {
    **dict.fromkeys(
        ("curl", "wget", "aria2c", "ssh", "scp", "sftp", "ftp", "telnet", "nc", "ncat", "ping", "dig", "nslookup",
         "gh", "glab", "apt", "apt-get", "dnf", "yum", "apk", "brew", "aws", "gcloud", "az", "kubectl", "uvx",
         "pipx"),
        frozenset[str](),
    ),
    "git": frozenset(("fetch", "pull", "push", "clone", "ls-remote")),
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), _INSTALL),
    **dict.fromkeys(("pip", "pip3"), frozenset(("install", "download", "index", "wheel"))),
    "uv": frozenset(("pip", "sync", "add", "lock", "tool")),
    "poetry": _INSTALL | {"lock"},
    "cargo": frozenset(("fetch", "install", "add", "update", "publish", "search")),
    "go": frozenset(("get", "install", "mod")),
    "docker": frozenset(("pull", "push", "login", "build")),
    "podman": frozenset(("pull", "push", "login", "build")),
    "gem": _INSTALL,
    "bundle": _INSTALL,
    "composer": _INSTALL | {"require"},
    "dotnet": frozenset(("restore", "add")),
    "conda": _INSTALL | {"create"},
    "rustup": _INSTALL | {"toolchain", "target", "component"},
    "twine": frozenset(("upload",)),
}  # fmt: skip
_KNOWN = {*_PROGRAMS, *_SHELLS, *_WRAPPERS, "rsync", "python", "python3"}
_TAKE_A_VALUE = {"-C", "-c", "--git-dir", "--work-tree", "--prefix", "--cwd", "--project", "--directory"}
_HERE = re.compile(r"(?:localhost|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[::1\]|::1)(?::\d+)?(?:[/?#].*)?$")
_SUSPECT = re.compile(r"(?<![\w-])(?:" + "|".join(map(re.escape, [*_PROGRAMS, "rsync"])) + r")(?![\w-])")


def reaches_others(command: str) -> bool:
    """Most texts name no such program, and need not be parsed."""
    if not _SUSPECT.search(command) or len(command) > MOST_CHARACTERS or re.search("[\ud800-\udfff]", command):
        return False
    return any(map(_is_one, _vectors(command, 0)))


def _vectors(text: str, depth: int) -> Iterator[list[str]]:
    """Every command that is written anywhere in a text, without its quotes."""
    nodes = [parse(text).root_node]
    seen = 0
    while nodes and seen < _MOST_COMMANDS:
        node = nodes.pop()
        nodes += node.children
        if node.type != "command":
            continue
        seen += 1
        words = _unwrapped([_text(each) for each in node.children if each.type not in _NO_WORDS])
        if words:
            yield words
        if words and depth < _DEEPEST and _name(words) in _SHELLS and "-c" in words[:-1]:
            yield from _vectors(words[words.index("-c") + 1], depth + 1)


def _unwrapped(words: list[str]) -> list[str]:
    """The options of a wrapper may take values, so what follows is found by its name."""
    while words and _name(words) in _WRAPPERS:
        rest = words[1:]
        known = [
            at for at, word in enumerate(rest) if _name([word]) in _PROGRAMS or _name([word]) in _SHELLS | _WRAPPERS
        ]
        words = rest[known[0] :] if known else []
    return words


def _is_one(words: list[str]) -> bool:
    name, rest = _name(words), words[1:]
    if name in ("python", "python3") and rest[:2] == ["-m", "pip"]:
        name, rest = "pip", rest[2:]
    if name == "rsync":
        return any(re.match(r"(?:[\w.-]+@)?[\w.-]+:", word) for word in rest)
    if name not in _PROGRAMS or _stays_here(rest):
        return False
    subcommands = _PROGRAMS[name]
    return not subcommands or _subcommand(rest) in subcommands or (name == "yarn" and not rest)


def _stays_here(words: list[str]) -> bool:
    """All addresses it names are of this machine: of the sandbox, where a server of the session's own may run."""
    named = [word.partition("://")[2] for word in words if "://" in word]
    bare = [word for word in words if _HERE.match(word)]
    return bool(named or bare) and all(map(_HERE.match, named))


def _subcommand(words: list[str]) -> str:
    rest = list(words)
    while rest and rest[0].startswith("-"):
        rest = rest[2 if rest[0] in _TAKE_A_VALUE else 1 :]
    return rest[0] if rest else ""


def _name(words: list[str]) -> str:
    return words[0].rpartition("/")[2]


def _text(node: "Node") -> str:
    raw = (node.text or b"").decode(errors="replace")
    if node.type in ("raw_string", "string"):
        return raw[1:-1]
    return raw.replace('"', "").replace("'", "").replace("\\", "")
