"""The person's permission rules: parsing and matching of `allow`, `ask` and `deny` on tools, paths, commands, hosts.

edit                      every call of the tool
edit(src/**)              calls on these paths, with patterns as in a `.gitignore`, or starting with `~/` or `/`
bash(git push)            commands that begin with these words
web_fetch(docs.python.org), network(*.example.com)    calls to these hosts
mcp__server__*            tools of an MCP server
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Literal

from msgspec import Struct

from coderelay.policy.path_and_host_patterns import host_matches, host_of, is_host_pattern, matches
from coderelay.protocol.calls import Need
from coderelay.protocol.tool_specs import ToolSpecs
from coderelay.protocol.translatable import say

EXPECTED = (
    "a rule like bash(git push), edit(src/**), read(.env), web_fetch(docs.python.org), network(*.example.com), "
    "mcp__server__* or the name of a tool"
)
_WRITTEN = r"(?s)([A-Za-z][\w*-]*)(?:\((.*)\))?"
_NETWORK = "network"
_MCP = r"mcp__[\w-]+(?:\*)?|mcp__\*"
_ODD_IN_WORDS = r"[|&;<>()$`\"'\\*?]"
_ODD_IN_PATHS = r"[\x00-\x1f\x7f(){}\\]|^!|^~(?!/)|(?:^|/)\.\.(?:/|$)|//|^/$"


class Rule(Struct, frozen=True):
    """One parsed rule. `text` is the rule as written, `name` its tool name in lower case and `target` what is in its
    brackets; an empty target means every call. `tools` are the tools that the name stands for. Of a rule about paths,
    `reads` says whether these tools read the paths or change them."""

    text: str
    name: str
    about: Literal["tool", "path", "words", "host"]
    target: str = ""
    tools: frozenset[str] = frozenset()
    reads: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(self.target.split())


class CommandRules(Struct, frozen=True):
    """The rules about commands, each as the words that a command begins with; no words mean every command."""

    allow: tuple[tuple[str, ...], ...] = ()
    ask: tuple[tuple[str, ...], ...] = ()
    deny: tuple[tuple[str, ...], ...] = ()


class Rules(Struct, frozen=True):
    allow: tuple[Rule, ...] = ()
    ask: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()
    commands: CommandRules = CommandRules()


NO_RULES = CommandRules()


class InvalidRule(Exception):
    """The rule cannot be parsed; the `reason` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@lru_cache(maxsize=32)
def read_rules(
    tools: ToolSpecs, allow: tuple[str, ...] = (), ask: tuple[str, ...] = (), deny: tuple[str, ...] = ()
) -> Rules:
    """Parses the rules of all three lists. Raises InvalidRule."""
    may, must_ask, never = (tuple(read_rule(tools, text) for text in texts) for texts in (allow, ask, deny))
    return Rules(may, must_ask, never, CommandRules(_vectors(may), _vectors(must_ask), _vectors(never)))


def read_rule(tools: ToolSpecs, text: str) -> Rule:
    """Parses one rule; `tools` are the tools that a rule can name. Raises InvalidRule."""
    written = re.fullmatch(_WRITTEN, text.strip())
    if written is None:
        raise InvalidRule("it is not NAME or NAME(WHAT)")
    name, target = written.group(1).lower(), written.group(2)
    if target is not None and not target.strip():
        raise InvalidRule("there is nothing in the brackets")
    target = None if target is None or target.strip() == "*" else target.strip()
    tool, covered = tools.called(name), tools.covered_by(name)
    takes = "host" if name == _NETWORK else None if tool is None else tool.rule_target
    if takes == "command":
        return Rule(text, name, "words", _checked_words(target or ""), covered)
    if takes == "host" and target:
        if not is_host_pattern(target):
            raise InvalidRule(say("{name} is not a host name", name=repr(target)))
        return Rule(text, name, "host", target.lower(), covered)
    if takes == "path" and target and tool is not None:
        if re.search(_ODD_IN_PATHS, target):
            raise InvalidRule(say("{path} is not a path in the workspace, from ~/ or from /", path=repr(target)))
        return Rule(text, name, "path", target, covered | _readers(tools, name), reads=tool.kind == "read")
    if target:
        raise InvalidRule(say("{name} takes nothing in brackets", name=name))
    if tool is None and name != _NETWORK and not re.fullmatch(_MCP, name):
        raise InvalidRule(say("there is no tool {name}", name=repr(name)))
    return Rule(text, name, "tool", tools=covered)


def _readers(tools: ToolSpecs, name: str) -> frozenset[str]:
    """The tools that a rule `read(path)` covers: every tool that reads files, not only `read`."""
    if name != "read":
        return frozenset()
    return frozenset(spec.name for spec in tools if spec.kind == "read" and spec.rule_target == "path")


def _checked_words(target: str) -> str:
    """The words of a command rule. `npm run *` and `npm run:*` mean the same as `npm run`: whole words, and more may
    follow."""
    words = re.sub(r"(:|\s+)\*$", "", target)
    if odd := re.search(_ODD_IN_WORDS, words):
        raise InvalidRule(
            say("a command rule must be plain words; {character} is not allowed in it", character=repr(odd.group()))
        )
    return " ".join(words.split())


def _vectors(rules: Iterable[Rule]) -> tuple[tuple[str, ...], ...]:
    return tuple(rule.words for rule in rules if rule.about == "words")


class PathBase(Struct, frozen=True):
    """The folders that relative paths in rules start from, and the `home` folder that `~/` stands for."""

    folders: tuple[str, ...] = ()
    home: str = ""


def find_rule(rules: Iterable[Rule], need: Need, base: PathBase, *, whole: bool = False) -> Rule | None:
    """The first rule that matches any part of what a call touches, or the `whole` of it, as an allow rule must."""
    return next((rule for rule in rules if _is_about(rule, need, whole) and _touches(rule, need, base, whole)), None)


def _touches(rule: Rule, need: Need, base: PathBase, whole: bool) -> bool:
    match rule.about:
        case "tool":
            return need.kind != "command"
        case "host":
            host = host_of(need.title)
            return host is not None and host_matches(rule.target, host)
        case "path":
            found = [_means(rule, path, base, any_case=not whole) for path in need.paths]
            return bool(found) and (all(found) if whole else any(found))
        case "words":
            return False  # commands are judged in `policy/shell`, word by word


def is_about_paths(rule: Rule, kind: Literal["read", "edit"]) -> bool:
    """Whether the rule is about reading paths or about changing them, whatever tool does so."""
    return rule.about == "path" and rule.reads == (kind == "read")


def means_path(rule: Rule, path: str, base: PathBase) -> bool:
    """Whether a rule that asks or denies matches the path. Case is ignored, because some file systems ignore it."""
    return _means(rule, path, base, any_case=True)


def _means(rule: Rule, path: str, base: PathBase, *, any_case: bool) -> bool:
    return matches(rule.target, path, base.folders, base.home, any_case=any_case)


def _is_about(rule: Rule, need: Need, whole: bool) -> bool:
    """Whether the rule names the tool of this call. A tool that was renamed because another tool has the same name is
    still denied or asked about under its original name; a rule that allows the one does not allow the other."""
    if rule.name == _NETWORK:
        return need.kind == "network"
    names = [need.tool] if whole or not need.plain else [need.tool, need.plain]
    return any(_is_called(rule, name.lower()) for name in names)


def _is_called(rule: Rule, tool: str) -> bool:
    return tool.startswith(rule.name[:-1]) if rule.name.endswith("*") else tool in rule.tools
