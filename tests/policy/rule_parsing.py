"""Parses rules for tests, with the tools that coderelay brings."""

from functools import partial

from coderelay.policy import rules
from coderelay.tools.builtin_tools import SPECS

read_rule = partial(rules.read_rule, SPECS)
read_rules = partial(rules.read_rules, SPECS)
