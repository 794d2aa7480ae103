"""What is dangerous in a command, found anywhere in it: substitutions, functions, strings for another shell.

This walk is tolerant and may only make a verdict stricter. `stop` is refused outside of yolo; `danger`
is asked about with its reason.
"""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from coderelay.policy.recognisers.options import Refused
from coderelay.policy.recognisers.wrappers import WRAPPERS, unwrap
from coderelay.policy.rules import NO_RULES, CommandRules, begins_with
from coderelay.policy.shell_words import Word, find_nodes, parse

if TYPE_CHECKING:
    from tree_sitter import Node

_DEEPEST = 6
_MOST_COMMANDS = 2000
_MOST_WORDS = 64

_SHELLS = {"sh", "bash", "dash", "zsh", "ksh", "fish", "ash"}
_INTERPRETERS = _SHELLS | {"python", "python3", "perl", "ruby", "node", "php", "osascript"}
_FETCHERS = {"curl", "wget", "fetch", "nc", "ncat", "aria2c"}
# These start their operands; the number is how many operands of their own come first.
_WRAPPERS = {
    "sudo": 0, "doas": 0, "env": 0, "nohup": 0, "nice": 0, "ionice": 0, "time": 0, "timeout": 1, "stdbuf": 0,
    "setsid": 0, "exec": 0, "command": 0, "builtin": 0, "xargs": 0, "watch": 0, "strace": 0, "chroot": 1, "su": 0,
    "unshare": 0, "flock": 1, "busybox": 0, "parallel": 0, "find": 0, "then": 0, "do": 0, "else": 0, "!": 0,
}  # fmt: skip
_DANGERS: dict[str, str] = {
    "sudo": "it runs with the rights of another person",
    "doas": "it runs with the rights of another person",
    "su": "it runs with the rights of another person",
    "pkexec": "it runs with the rights of another person",
    "rm": "it removes files",
    "rmdir": "it removes folders",
    "shred": "it destroys files",
    "unlink": "it removes files",
    "truncate": "it empties files",
    "dd": "it writes raw data",
    "mkfs": "it formats a disk",
    "fdisk": "it changes a disk",
    "parted": "it changes a disk",
    "mount": "it changes what is mounted",
    "umount": "it changes what is mounted",
    "shutdown": "it ends the machine",
    "reboot": "it ends the machine",
    "halt": "it ends the machine",
    "poweroff": "it ends the machine",
    "kill": "it ends processes",
    "killall": "it ends processes",
    "pkill": "it ends processes",
    "chmod": "it changes rights",
    "chown": "it changes owners",
    "chattr": "it changes rights",
    "setfacl": "it changes rights",
    "crontab": "it makes something run later",
    "at": "it makes something run later",
    "systemctl": "it changes services",
    "service": "it changes services",
    "launchctl": "it changes services",
    "iptables": "it changes the network",
    "useradd": "it changes accounts",
    "usermod": "it changes accounts",
    "passwd": "it changes accounts",
    "ssh": "it works on another machine",
    "scp": "it copies to or from another machine",
    "rsync": "it copies and may remove files",
    "nc": "it opens a connection",
    "ncat": "it opens a connection",
    "socat": "it opens a connection",
    "curl": "it uses the network",
    "wget": "it uses the network",
    "eval": "it runs a text as a command",
    "source": "it runs a file in the shell",
    ".": "it runs a file in the shell",
    "docker": "it can reach the whole machine",
    "podman": "it can reach the whole machine",
    "kubectl": "it changes a cluster",
    "terraform": "it changes infrastructure",
    "history": "it shows or changes the shell's history",
    "export": "it changes the environment of later programs",
    "alias": "it changes what a name means",
    "trap": "it runs a text as a command",
}
_GIT_DANGERS = {
    "push": "it publishes commits",
    "reset": "it may discard work",
    "clean": "it removes files",
    "checkout": "it may discard work",
    "restore": "it may discard work",
    "rebase": "it rewrites history",
    "filter-branch": "it rewrites history",
    "filter-repo": "it rewrites history",
    "update-ref": "it rewrites history",
    "config": "it changes what git runs",
    "gc": "it removes objects",
}
_PUBLISHES = {
    ("npm", "publish"), ("yarn", "publish"), ("pnpm", "publish"), ("cargo", "publish"), ("twine", "upload"),
    ("gh", "release"), ("gem", "push"), ("docker", "push"),
}  # fmt: skip
_DESTROYERS = {"rm", "chmod", "chown", "chgrp", "shred", "find", "dd", "wipefs"}
_WHOLE = re.compile(
    r"""(?:/+|/+\*|~|~/|~/\*|\$\{?HOME\}?/?|\$\{?HOME\}?/\*|/\.|/\.\*|/\.\.|
    /(?:bin|boot|dev|etc|home|lib|lib64|opt|proc|root|run|sbin|srv|sys|usr|var|Users|System|Library)/?\*?)""",
    re.VERBOSE,
)
_DISK = re.compile(r"/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk|rdisk|mapper/|dm-)\w*")
_FORK_BOMB = re.compile(r"([\w:.]{1,40}) ?\( ?\)\s{0,9}\{[^}]{0,200}?\1 ?\| ?\1 ?&")
_CREDENTIALS = re.compile(
    r"(?:^|[\s/'\"=:@~])(?:\.ssh|\.aws|\.gnupg|\.netrc|\.npmrc|\.pypirc|\.docker/config|\.kube|\.git-credentials"
    r"|id_rsa|id_ed25519|etc/shadow|\.env(?:\.(?!example|sample|template|test)\w+)?|(?<=/)environ|\.config/gcloud"
    r"|\.coder)(?=$|[\s/'\";|&)])"
)
_AROUND = " \t\n/=:@~'\""


class Danger(Struct, frozen=True):
    """`ruled` is a rule of the person's own, which no rule that allows can take back."""

    reason: str
    stop: bool = False
    ruled: bool = False


def find_danger(text: str, root: "Node", rules: CommandRules = NO_RULES) -> Danger | None:
    """The worst thing in a command: what is refused before what is asked about."""
    found: Danger | None = None
    for danger in _walk(text, root, rules, 0):
        if danger.stop:
            return danger
        if found is None or (danger.ruled and not found.ruled):
            found = danger
    return found


def _walk(text: str, root: "Node", rules: CommandRules, depth: int) -> Iterator[Danger]:
    if depth > _DEEPEST:
        yield Danger("it hides commands too deep to look at")
        return
    if _FORK_BOMB.search(text):
        yield Danger("it starts itself without end", stop=True)
    seen = 0
    for node in find_nodes(root, "command", "pipeline", "file_redirect"):
        match node.type:
            case "command":
                seen += 1
                yield from _vector([_text(child) for child in _words(node)], rules, depth)
            case "pipeline":
                yield from _pipeline(node)
            case _:
                yield from _redirection(node)
        if seen > _MOST_COMMANDS:
            yield Danger("it holds too many commands to look at")
            return
    if match := _CREDENTIALS.search(text):
        yield Danger(f"it touches {match.group().strip(_AROUND)}, where secrets are kept")


def _words(command: "Node") -> "list[Node]":
    return [child for child in command.children if child.type not in ("variable_assignment", "file_redirect")]


def _text(node: "Node") -> str:
    """A word without its quotes and escapes, roughly."""
    raw = (node.text or b"").decode(errors="replace")
    if node.type == "raw_string":
        return raw[1:-1]
    if node.type == "string":
        return _unescaped(raw[1:-1])
    return _unescaped(raw.replace('"', "").replace("'", ""))


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text, flags=re.DOTALL) if "\\" in text else text


def _vector(words: list[str], rules: CommandRules, depth: int) -> Iterator[Danger]:
    if not words:
        return
    if depth > _DEEPEST:
        yield Danger("it hides commands too deep to look at")
        return
    name = words[0].rpartition("/")[2]
    rest = words[1:]
    yield from _ruled(name, rest, rules)
    yield from _stops(name, rest)
    if name in _SHELLS and any(re.fullmatch(r"-\w*c", each) for each in rest):
        yield Danger("it runs a text as a command")
        for each in rest:
            if not each.startswith("-"):
                yield from _inner(each, rules, depth)
    elif name in _INTERPRETERS - _SHELLS and any(each in ("-c", "-e", "--eval", "-r", "-p") for each in rest):
        yield Danger(f"it runs a text as a {name} program")
    elif name == "script":
        for each in rest:
            yield from _inner(each.partition("=")[2] if each.startswith("-") else each, rules, depth)
    elif name in ("eval", "trap", "watch", "su"):
        yield from _inner(" ".join(each for each in rest if not each.startswith("-")), rules, depth)
    if name in _WRAPPERS:
        yield from _wrapped(name, rest, rules, depth)
    if name == "git" and (reason := _git_danger(rest)):
        yield Danger(reason)
    elif (name, rest[0] if rest else "") in _PUBLISHES:
        yield Danger("it publishes something")
    elif reason := _DANGERS.get(name.partition(".")[0] if name.startswith("mkfs.") else name):
        yield Danger(reason)


def _ruled(name: str, rest: list[str], rules: CommandRules) -> Iterator[Danger]:
    if not (rules.deny or rules.ask):
        return
    vectors = [[name, *rest[at:]] for at in _subcommands(rest)]
    given = _given_more(name, rest)
    for rule in rules.deny:
        if rule[:1] in given or any(begins_with(words, rule) for words in vectors):
            yield Danger(f"a rule denies {' '.join(rule) or 'every command'}", stop=True)
    for rule in rules.ask:
        if rule[:1] in given or any(begins_with(words, rule) for words in vectors):
            yield Danger(f"a rule asks about {' '.join(rule) or 'every command'}", ruled=True)


def _subcommands(rest: list[str]) -> list[int]:
    """Where a subcommand may begin: behind options, each of which may take the word behind it."""
    places = [0]
    for at, word in enumerate(rest[:_MOST_WORDS]):
        if at in places and word.startswith("-"):
            places += [at + 1, at + 2]
    return sorted(set(places))


def _given_more(name: str, rest: list[str]) -> set[tuple[str, ...]]:
    """Programs that get words nobody sees here: every rule on them counts."""
    if name not in ("xargs", "parallel"):
        return set()
    return {(rest[at].rpartition("/")[2],) for at in _subcommands(rest) if at < len(rest)}


def _inner(text: str, rules: CommandRules, depth: int) -> Iterator[Danger]:
    yield from _walk(text, parse(text).root_node, rules, depth + 1)


def _wrapped(name: str, rest: list[str], rules: CommandRules, depth: int) -> Iterator[Danger]:
    """A wrapper's options may take values, so every word that is left is tried as the program."""
    if name == "find":
        if "-delete" in rest:
            yield Danger("it removes files")
        starts = [at + 1 for at, each in enumerate(rest) if each in ("-exec", "-execdir", "-ok", "-okdir")]
        for start in starts:
            yield from _vector(rest[start:], rules, depth + 1)
        return
    if (inner := _started(name, rest)) is not None:
        yield from _vector(inner, rules, depth + 1)
        return
    if len(rest) > _MOST_WORDS:
        yield Danger("it hides a command behind too many words")
        rest = rest[:_MOST_WORDS]
    operands = [at for at, each in enumerate(rest) if not each.startswith("-") and "=" not in each]
    for at in operands[_WRAPPERS[name] :][:3]:
        yield from _vector(rest[at:], rules, depth + 1)


def _started(name: str, rest: list[str]) -> list[str] | None:
    """The one vector that is started, if that is plain to see."""
    if name not in WRAPPERS:
        return None
    try:
        return [word.text for word in unwrap(name, [Word(each) for each in rest])]
    except Refused:
        return None


def _stops(name: str, rest: list[str]) -> Iterator[Danger]:
    """What nobody means: refused outside of yolo."""
    if name not in _DESTROYERS and not name.startswith("mkfs"):
        return
    letters = "".join(each[1:] for each in rest if re.fullmatch(r"-[A-Za-z]+", each))
    deep = "r" in letters or "R" in letters or "--recursive" in rest
    if name == "rm" and "--no-preserve-root" in rest:
        yield Danger("it removes the whole machine", stop=True)
    if name in ("rm", "chmod", "chown", "chgrp", "shred") and deep and any(map(_is_whole, rest)):
        yield Danger("it destroys the machine or the home folder", stop=True)
    if name == "find" and "-delete" in rest and rest and _is_whole(rest[0]) and len(rest) == 2:
        yield Danger("it destroys the machine or the home folder", stop=True)
    if name == "dd" and any(each.startswith("of=") and _DISK.match(each[3:]) for each in rest):
        yield Danger("it overwrites a disk", stop=True)
    if (name.startswith("mkfs") or name in ("wipefs", "shred")) and any(map(_DISK.match, rest)):
        yield Danger("it overwrites a disk", stop=True)


def _is_whole(path: str) -> bool:
    return _WHOLE.fullmatch(path) is not None


def _git_danger(rest: list[str]) -> str | None:
    """Options before the subcommand can name programs to run."""
    if rest and rest[0].startswith(("-c", "--exec-path", "--config-env")):
        return "it changes what git runs"
    words = list(rest)
    while words and words[0].startswith("-"):
        words = words[2 if words[0] in ("-C", "--git-dir", "--work-tree") else 1 :]
    if words[:2] in (["config", "--get"], ["config", "--get-all"], ["config", "--list"]):
        return None
    if words[:1] == ["config"] and len(words) == 2 and not words[1].startswith("-"):
        return None
    if words[:1] == ["clean"] and any(re.fullmatch(r"-[dxX]*n[dxX]*|--dry-run", word) for word in words):
        return None
    if words[:2] == ["checkout", "-b"] and not any(word.startswith("-") for word in words[2:]):
        return None
    if words[:1] == ["branch"] and {"-D", "-d", "--delete", "-f"} & set(words):
        return "it removes or moves a branch"
    if words[:2] in (["stash", "drop"], ["stash", "clear"]):
        return "it discards work"
    return _GIT_DANGERS.get(words[0]) if words else None


def _pipeline(node: "Node") -> Iterator[Danger]:
    names = [_program(child) for child in node.children if child.is_named]
    fetched = False
    for name in names:
        if fetched and name in _INTERPRETERS:
            yield Danger("it runs what it fetches from the network")
        elif name in _INTERPRETERS and name != names[0]:
            yield Danger("it runs the output of another command")
        fetched = fetched or name in _FETCHERS


def _program(node: "Node") -> str:
    while node.type in ("redirected_statement", "list", "negated_command") and node.named_children:
        node = node.named_children[-1 if node.type == "list" else 0]
    words = [_text(child) for child in _words(node)] if node.type == "command" else []
    while words and (words[0] in _WRAPPERS or words[0].startswith("-")):
        words = words[1:]
    return words[0].rpartition("/")[2] if words else ""


def _redirection(node: "Node") -> Iterator[Danger]:
    operators = {child.type for child in node.children}
    target = _text(node.children[-1])
    if not operators & {">", ">>", "&>", "&>>", ">|", ">&"}:
        return
    if _DISK.match(target):
        yield Danger("it overwrites a disk", stop=True)
    elif target.startswith(("/", "~", "$")) and target not in ("/dev/null", "/dev/stderr", "/dev/stdout"):
        yield Danger(f"it writes to {target}")
