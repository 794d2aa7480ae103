"""Whether the person's rules about paths and hosts match what a command may reach."""

from collections.abc import Sequence

from coderelay.policy.path_and_host_patterns import host_matches, may_match
from coderelay.policy.rules import PathBase, Rule, is_about_paths, means_path
from coderelay.policy.shell.approximate_bash_words import all_words
from coderelay.policy.shell.called_hosts import called_hosts
from coderelay.policy.shell.command_paths import AccessedPath, reach_of
from coderelay.policy.shell.possible_commands import ShellText, walk


def find_rule_for_named_path(
    rules: Sequence[Rule], command: str, base: PathBase, targets: tuple[str, ...]
) -> Rule | None:
    """The first rule on a path that the command surely names, itself or in a text for another shell. `targets` are
    the paths to which links lead."""
    paths = [rule for rule in rules if rule.about == "path"]
    reached = {*targets, *reach_of(command, base.folders).named} if paths else set[str]()
    return next((rule for rule in paths if any(means_path(rule, each, base) for each in reached)), None)


def find_rule_for_possible_path(rules: Sequence[Rule], command: str, base: PathBase) -> Rule | None:
    """The first rule on a path that a glob could expand to, or that lies in a folder whose files are all read."""
    paths = [rule for rule in rules if rule.about == "path"]
    wide = reach_of(command, base.folders).wide if paths else ()
    return next((rule for rule in paths if any(_may_be_meant(rule, each, base) for each in wide)), None)


def _may_be_meant(rule: Rule, reached: AccessedPath, base: PathBase) -> bool:
    deep = reached.deep and is_about_paths(rule, "read")
    return (deep or reached.glob) and may_match(rule.target, reached.path, base.folders, base.home, deep=deep)


def find_named(rules: Sequence[Rule], text: str, base: PathBase) -> Rule | None:
    """The first rule on a path that is named anywhere in the text, which need not be literal, or on a host that it
    calls."""
    hosts = [rule for rule in rules if rule.about == "host"]
    named = sorted(called_hosts(text)) if hosts else []
    for rule in hosts:
        if any(host_matches(rule.target, host) for host in named):
            return rule
    paths = [rule for rule in rules if rule.about == "path"]
    if not paths:
        return None
    words = [word for record in walk(text) if isinstance(record, ShellText) for word in all_words(record.root)]
    return next((rule for rule in paths if any(means_path(rule, word, base) for word in words)), None)
