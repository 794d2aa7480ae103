"""Rules as they are read with the tools that we bring."""

from functools import partial

from coderelay.policy import rules
from coderelay.tools.all_tools import SPECS

read_rule = partial(rules.read_rule, SPECS)
read_rules = partial(rules.read_rules, SPECS)
