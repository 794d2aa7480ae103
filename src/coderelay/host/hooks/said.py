"""What a hook said: by its exit code, or as JSON."""

from typing import Literal

import msgspec
from msgspec import Struct, field

_LONGEST = 8_000
_BLOCKED = 2
_NO_REASON = "no reason was given"


class Said(Struct, frozen=True):
    """Silence is the usual answer. `trouble`: it failed, and this is how. `context` is for the model, `notice` for
    people, `variables` for the commands of the session. `plain` is what it wrote if that is no JSON."""

    verdict: Literal["", "ask", "deny"] = ""
    reason: str = ""
    context: str = ""
    notice: str = ""
    variables: dict[str, str] = {}
    plain: str = ""
    trouble: str = ""


class _Specific(Struct, frozen=True, rename="camel"):
    permission_decision: Literal["allow", "ask", "deny"] | None = None
    permission_decision_reason: str | None = None
    additional_context: str | None = None


class _Answer(Struct, frozen=True, rename="camel"):
    """The form that hooks of other agents have. What it holds besides says nothing to us."""

    decision: Literal["approve", "block"] | None = None
    reason: str | None = None
    goes_on: bool = field(default=True, name="continue")
    stop_reason: str | None = None
    system_message: str | None = None
    hook_specific_output: _Specific | None = None
    env: dict[str, str] = {}


def understand(exit_code: int, output: str, errors: str) -> Said:
    """To approve is to say nothing: that a hook has nothing against a call does not make it allowed."""
    if exit_code == _BLOCKED:
        return Said(verdict="deny", reason=_cut(errors or output.strip()) or _NO_REASON)
    if exit_code != 0:
        return Said(trouble=f"exit code {exit_code}{_because(errors)}")
    if not output.lstrip().startswith("{"):
        return Said(plain=_cut(output.strip()))
    try:
        return _meaning(msgspec.json.decode(output, type=_Answer))
    except (msgspec.DecodeError, RecursionError) as error:
        return Said(trouble=f"what it said is not understood: {error}")


def _meaning(answer: _Answer) -> Said:
    own = answer.hook_specific_output or _Specific()
    blocks = answer.decision == "block" or not answer.goes_on
    verdict = "deny" if blocks or own.permission_decision == "deny" else ""
    if not verdict and own.permission_decision == "ask":
        verdict = "ask"
    reasons = [own.permission_decision_reason, answer.reason, answer.stop_reason]
    return Said(
        verdict=verdict,
        reason=_cut(next(filter(None, reasons), _NO_REASON)) if verdict else "",
        context=_cut(own.additional_context or ""),
        notice=_cut(answer.system_message or ""),
        variables=answer.env,
    )


def _because(errors: str) -> str:
    return f": {_cut(errors)}" if errors else ""


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
