"""One judge for all agents. Looks at what calls would touch; never at who proposes them.

The order for each call: is the tool enabled here at all; then what the mode says of its kind. A
`yolo` session skips the second for shell commands, never the first.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from coderelay.policy.approvals import covers
from coderelay.policy.names import is_allowed
from coderelay.protocol.asks import Approval
from coderelay.protocol.calls import Kind, Need
from coderelay.protocol.events import Mode


class Rules(Struct, frozen=True):
    """What a session may use, and what was approved before. No `allowed_tools` means all of them."""

    mode: Mode
    allowed_tools: tuple[str, ...] = ()
    approvals: tuple[Approval, ...] = ()


class Verdict(Struct, frozen=True):
    verdict: Literal["allow", "ask", "deny"]
    reason: str = ""


_MODES: dict[Mode, dict[Kind, Literal["allow", "ask", "deny"]]] = {
    "plan": {"read": "allow", "edit": "deny", "command": "deny", "network": "deny", "mcp": "deny"},
    "default": {"read": "allow", "edit": "ask", "command": "ask", "network": "ask", "mcp": "ask"},
    "auto-edit": {"read": "allow", "edit": "allow", "command": "ask", "network": "ask", "mcp": "ask"},
    "yolo": {"read": "allow", "edit": "allow", "command": "allow", "network": "allow", "mcp": "allow"},
}
_DOES: dict[Kind, str] = {
    "read": "reads",
    "edit": "changes files",
    "command": "runs a command",
    "network": "uses the network",
    "mcp": "uses another program",
    "ask": "asks",
}


def judge(batch: Sequence[Need], rules: Rules) -> list[Verdict]:
    """A verdict for every call of a batch, before any of them runs."""
    return [_judge_one(need, rules) for need in batch]


def _judge_one(need: Need, rules: Rules) -> Verdict:
    if need.problem is not None:
        return Verdict("deny", need.problem)
    if not is_allowed(need.tool, rules.allowed_tools):
        return Verdict("deny", f"{need.tool} is not among the tools allowed in this session")
    if need.plan is not None and rules.mode != "plan":
        return Verdict("deny", "there is no plan to approve outside of plan mode")
    verdict = _MODES[rules.mode].get(need.kind, "ask")
    if verdict == "allow":
        return Verdict("allow")
    if verdict == "ask" and need.kind != "ask" and any(covers(each, need) for each in rules.approvals):
        return Verdict("allow", "approved before")
    return Verdict(verdict, f"{need.tool} {_DOES[need.kind]}, mode is {rules.mode}")
