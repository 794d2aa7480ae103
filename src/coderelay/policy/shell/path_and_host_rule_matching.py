"""Whether the person's rules about paths and hosts match what a command may reach."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from coderelay.policy.path_and_host_patterns import host_matches, hosts_named, may_meet
from coderelay.policy.rules import PathBase, Rule, is_about_paths, means_path
from coderelay.policy.shell.approximate_bash_words import find_nodes
from coderelay.policy.shell.possible_commands import ShellText, walk
from coderelay.policy.shell.strict_bash_parser import Script

if TYPE_CHECKING:
    from tree_sitter import Node
from coderelay.policy.shell.command_paths import ReachedPath, reached_by

_WORDS = ("word", "string", "raw_string", "concatenation")


def find_reached(rules: Sequence[Rule], script: Script, base: PathBase, targets: tuple[str, ...]) -> Rule | None:
    """The first rule on a path that the command surely names. `targets` are the paths to which links lead."""
    paths = [rule for rule in rules if rule.about == "path"]
    reached = {*targets, *(each.path for each in reached_by(script, base))} if paths else set[str]()
    return next((rule for rule in paths if any(means_path(rule, each, base) for each in reached)), None)


def find_perhaps_reached(rules: Sequence[Rule], script: Script, base: PathBase) -> Rule | None:
    """The first rule on a path that a glob could expand to, or that lies in a folder whose files are all read."""
    paths = [rule for rule in rules if rule.about == "path"]
    wide = [each for each in reached_by(script, base) if each.glob or each.deep] if paths else []
    return next((rule for rule in paths if any(_may_be_meant(rule, each, base) for each in wide)), None)


def _may_be_meant(rule: Rule, reached: ReachedPath, base: PathBase) -> bool:
    deep = reached.deep and is_about_paths(rule, "read")
    return (deep or reached.glob) and may_meet(rule.target, reached.path, base.folders, base.home, deep=deep)


def find_named(rules: Sequence[Rule], text: str, base: PathBase) -> Rule | None:
    """The first rule on a path or a host that is named anywhere in the text, which need not be literal."""
    hosts = [rule for rule in rules if rule.about == "host"]
    named = hosts_named(text) if hosts else []
    for rule in hosts:
        if any(host_matches(rule.target, host) for host in named):
            return rule
    paths = [rule for rule in rules if rule.about == "path"]
    if not paths:
        return None
    words = [word for record in walk(text) if isinstance(record, ShellText) for word in _words(record.root)]
    return next((rule for rule in paths if any(means_path(rule, word, base) for word in words)), None)


def _words(root: "Node") -> list[str]:
    """All words without their quotes, and what is behind the `=` of an option."""
    found: list[str] = []
    for node in find_nodes(root, *_WORDS):
        text = (node.text or b"").decode(errors="replace").replace('"', "").replace("'", "").replace("\\", "")
        found += [text, text.partition("=")[2]] if "=" in text else [text]
    return [text for text in found if text]
