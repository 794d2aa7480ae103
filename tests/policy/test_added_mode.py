"""A mode is one record in `MODES`: what the policy and the settings know of modes comes from there."""

import json
import subprocess
import sys

import pytest

from coderelay.protocol.modes import MODES

pytestmark = pytest.mark.quick

_ADDED = """
import json
from coderelay.protocol import modes
from coderelay.protocol.bilingual_text import Localized

plan, *others = modes.MODES
text = Localized("careful", "careful")
careful = modes.ModeSpec(
    "careful", text, prompt="", table=plan.table, child="plan", colour="cyan", external_name="careful", label=text,
    detail=text, **{spec}
)
modes.MODES = (plan, careful, *others)  # before anything else is loaded, as if it stood in the file
modes.MODE_NAMES = tuple(each.name for each in modes.MODES)
modes._BY_NAME[careful.name] = careful

from coderelay.config.settings import SandboxConfig
from coderelay.policy.judge import Policy, judge
from coderelay.protocol.calls import Need
from coderelay.session.settings_change_timing import _freedom
from coderelay.tools.builtin_tools import SPECS

needs = [
    Need("write", "edit", "a.py", paths=("/w/a.py",)),
    Need("read", "read", ".env", paths=("/w/.env",)),
    Need("bash", "command", "ls", command="ls"),
    Need("bash", "command", "make", command="make"),
]
verdicts = judge(needs, Policy("careful", SPECS, folders=("/w",)))
freedom = [_freedom(mode, preset) for mode, preset in {freer_and_freer}]
told = [[each.verdict, each.reason] for each in verdicts]
print(json.dumps([told, freedom == sorted(set(freedom)), SandboxConfig().confines("careful")]))
"""
_FREER_AND_FREER = [
    ("plan", "strict"),
    ("careful", "yolo"),
    ("default", "strict"),
    ("default", "balanced"),
    ("yolo", "strict"),
]


def _told(**spec: bool) -> object:
    script = _ADDED.replace("{spec}", repr(spec)).replace("{freer_and_freer}", repr(_FREER_AND_FREER))
    return json.loads(subprocess.run([sys.executable, "-c", script], capture_output=True, check=True).stdout)


def test_a_mode_that_is_added_as_a_record_judges_calls_and_has_its_place_in_the_order() -> None:
    assert "careful" not in [each.name for each in MODES]
    verdicts = [
        ["deny", "write changes files (careful mode)"],
        ["ask", ".env may hold secrets"],
        ["allow", "it only reads"],
        ["deny", "make may change things; careful mode"],
    ]
    assert _told() == [verdicts, True, True]


def test_a_mode_is_unchecked_if_its_record_says_so() -> None:
    verdicts = [["deny", "write changes files (careful mode)"], ["allow", ""], ["allow", ""], ["allow", ""]]
    assert _told(unchecked=True) == [verdicts, True, False]
