"""Paths and hosts that a command names, where rules ask about them or deny them.

What is found only makes a verdict stricter: every word that looks like such a path is taken for one, also a word of a
text that another shell runs.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from coderelay.policy.host_patterns import host_matches, hosts_named
from coderelay.policy.rules import Place, Rule, means_path
from coderelay.policy.shell.syntax_tree import find_nodes
from coderelay.policy.shell.walk import Text, walk

if TYPE_CHECKING:
    from tree_sitter import Node

_WORDS = ("word", "string", "raw_string", "concatenation")


def find_named(rules: Sequence[Rule], text: str, place: Place) -> Rule | None:
    """The first rule on a path or a host that is named anywhere in the text."""
    hosts = [rule for rule in rules if rule.about == "host"]
    named = hosts_named(text) if hosts else []
    for rule in hosts:
        if any(host_matches(rule.target, host) for host in named):
            return rule
    paths = [rule for rule in rules if rule.about == "path"]
    if not paths:
        return None
    words = [word for record in walk(text) if isinstance(record, Text) for word in _words(record.root)]
    return next((rule for rule in paths if any(means_path(rule, word, place) for word in words)), None)


def _words(root: "Node") -> list[str]:
    """Without their quotes; and what stands behind the `=` of an option."""
    found: list[str] = []
    for node in find_nodes(root, *_WORDS):
        text = (node.text or b"").decode(errors="replace").replace('"', "").replace("'", "").replace("\\", "")
        found += [text, text.partition("=")[2]] if "=" in text else [text]
    return [text for text in found if text]
