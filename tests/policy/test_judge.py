"""May this run? Every mode and kind, and the order of the questions."""

from typing import get_args

import pytest

from coderelay.policy.judge import Policy, Verdict, judge
from coderelay.protocol.calls import Kind, Need
from coderelay.protocol.session_setting_values import Mode
from coderelay.tools.builtin_tools import SPECS

pytestmark = pytest.mark.quick

MODES: tuple[Mode, ...] = get_args(Mode)
KINDS: tuple[Kind, ...] = get_args(Kind)

# One row per mode, one column per kind of call, in the order of KINDS.
TABLE: dict[Mode, str] = {
    #            read  edit  command network mcp  ask
    "plan": "    allow deny  deny    deny    deny ask",
    "default": " allow ask   ask     ask     ask  ask",
    "auto-edit": "allow allow ask     ask     ask  ask",
    "yolo": "    allow allow allow   allow   allow ask",
}
CELLS = [(mode, kind, verdict) for mode in MODES for kind, verdict in zip(KINDS, TABLE[mode].split(), strict=True)]


def need(kind: Kind, tool: str = "tool", problem: str | None = None) -> Need:
    return Need(tool=tool, kind=kind, title="t", problem=problem)


def one(need: Need, mode: Mode = "default", *allowed: str) -> Verdict:
    (verdict,) = judge([need], Policy(mode, SPECS, allowed))
    return verdict


@pytest.mark.parametrize(("mode", "kind", "verdict"), CELLS)
def test_c06_c09_c33_every_mode_and_kind(mode: Mode, kind: Kind, verdict: str) -> None:
    judged = one(need(kind), mode)
    assert judged.verdict == verdict
    assert bool(judged.reason) == (verdict != "allow")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", KINDS)
def test_c32_a_tool_that_is_not_enabled_is_denied_before_anything_else(mode: Mode, kind: Kind) -> None:
    """Even `bash` in yolo, which skips the other checks, does not skip this one."""
    assert one(need(kind, "bash"), mode, "Read") == Verdict("deny", "bash is not allowed in this session")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", KINDS)
def test_what_cannot_run_at_all_is_never_asked_about(mode: Mode, kind: Kind) -> None:
    assert one(need(kind, problem="no such tool"), mode) == Verdict("deny", "no such tool")


def test_c32_an_enabled_tool_is_still_judged_by_the_mode() -> None:
    assert one(need("command", "bash"), "default", "Bash").verdict == "ask"
    assert one(need("command", "bash"), "plan", "Bash").verdict == "deny"


def test_c33_bash_in_yolo_is_not_asked_about() -> None:
    assert one(need("command", "bash"), "yolo") == Verdict("allow")


@pytest.mark.parametrize("mode", MODES)
def test_a_question_to_the_person_is_asked_in_every_mode(mode: Mode) -> None:
    assert one(need("ask", "ask_user"), mode, "Read").verdict == "ask"


@pytest.mark.parametrize("mode", MODES)
def test_a62_a_plan_is_put_before_the_person_in_plan_mode_only(mode: Mode) -> None:
    judged = one(Need(tool="plan_exit", kind="ask", title="think", plan="think"), mode, "Read")
    asked = Verdict("ask", "plan_exit needs your answer (plan mode)")
    assert judged == (asked if mode == "plan" else Verdict("deny", "plans can be approved in plan mode only"))


def test_d14_a_batch_is_judged_call_by_call_in_its_order() -> None:
    batch = [need("read"), need("command"), need("edit", problem="bad arguments"), need("edit")]
    assert [each.verdict for each in judge(batch, Policy("auto-edit", SPECS))] == ["allow", "ask", "deny", "allow"]
    assert judge([], Policy("yolo", SPECS)) == []


def test_the_reason_says_what_the_call_does_and_which_mode_minds() -> None:
    assert one(need("edit", "write")).reason == "write changes files (default mode)"
    assert one(need("command", "bash"), "plan").reason == "bash runs a command (plan mode)"
