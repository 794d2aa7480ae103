"""Parses the answer of a hook, given by its exit code or as JSON, and filters the variables it sets."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import Struct, field

from coderelay.policy.secrets.masking import Secrets
from coderelay.protocol.translatable import join_texts, say
from coderelay.workspace.processes.environment import LOGIN_IN_ADDRESS, SECRET_NAME, is_allowed

_LONGEST = 8_000
_BLOCKED = 2
_NO_REASON = "no reason was given"
_DECISIONS = ("", "approve", "allow", "ask", "block", "deny")
_OBJECT = re.compile(r"\{(?=\s*[\"}])|\A\{")
_MOST_OBJECTS = 100
_JSON = json.JSONDecoder(strict=False)
T = TypeVar("T")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OURS = re.compile(r"CODER\w*|HOME|USER|LOGNAME|SHELL|TERM|TMPDIR")
_MOST = 64


class HookOutput(Struct, frozen=True):
    """What a hook answered; usually nothing. `trouble` says how the hook failed. `context` is for the model, `notice`
    for people, `variables` for the commands of the session. `plain` is the output if it is not JSON; `unread` says
    why some of it looks like JSON but cannot be parsed."""

    verdict: Literal["", "ask", "deny"] = ""
    reason: str = ""
    context: str = ""
    notice: str = ""
    variables: dict[str, str] = {}
    plain: str = ""
    unread: str = ""
    trouble: str = ""


class _Answer(Struct, frozen=True, rename="camel"):
    """The JSON answer, in the format of other agents' hooks; fields not listed here are ignored. Each field is parsed
    by itself, so that a clear denial counts whatever is wrong with the rest."""

    decision: Any = None
    reason: Any = None
    goes_on: Any = field(default=True, name="continue")
    stop_reason: Any = None
    system_message: Any = None
    hook_specific_output: Any = None
    env: Any = None


class _Specific(Struct, frozen=True, rename="camel"):
    permission_decision: Any = None
    permission_decision_reason: Any = None
    additional_context: Any = None


def parse_hook_output(exit_code: int, output: str, errors: str) -> HookOutput:
    """Parse the answer. An approval is the same as silence: a hook's approval does not make a call allowed."""
    if exit_code == _BLOCKED:
        return HookOutput(verdict="deny", reason=_cut(errors or output.strip()) or _NO_REASON)
    if exit_code != 0:
        return HookOutput(trouble=_ended(exit_code, errors))
    text = output.removeprefix("\ufeff").strip()
    objects, unread = _objects(text)
    if text.startswith("{") and not unread and len(objects) == 1 and objects[0][1] == len(text):
        return _parse_json_output(objects[0][0])
    meanings = [_parse_json_output(each) for each, _ in objects]
    for verdict in ("deny", "ask"):
        for each in meanings:
            if each.verdict == verdict:
                return each
    unread = unread or next((each.trouble for each in meanings if each.trouble), "")
    if text.startswith("{"):
        return HookOutput(trouble=unread or _not_understood(say("there is more than one object")))
    return HookOutput(plain=_cut(text), unread=unread)


def _objects(text: str) -> tuple[list[tuple[dict[str, Any], int]], str]:
    """The JSON objects in a text, also between other words, each with the place where it ends; and why others cannot
    be parsed."""
    found: list[tuple[dict[str, Any], int]] = []
    unread, at = "", 0
    for _ in range(_MOST_OBJECTS):
        start = _OBJECT.search(text, at)
        if start is None:
            break
        try:
            value, at = _JSON.raw_decode(text, start.start())
            found.append((value, at))
        except (ValueError, RecursionError) as error:
            unread, at = _not_understood(str(error)), start.end()
    return found, unread


def _parse_json_output(said: dict[str, Any]) -> HookOutput:
    odd: list[str] = []

    def read(value: Any, kind: type[T], name: str) -> T | None:
        try:
            return msgspec.convert(value, kind | None)
        except msgspec.ValidationError as error:
            odd.append(f"{name}: {error}")  # the words of msgspec
            return None

    answer = msgspec.convert(said, _Answer)
    own = msgspec.convert(read(answer.hook_specific_output, dict[str, Any], "hookSpecificOutput") or {}, _Specific)
    decisions = [
        (read(answer.decision, str, "decision") or "").lower(),
        (read(own.permission_decision, str, "permissionDecision") or "").lower(),
    ]
    odd += [say("{word} is no decision", word=repr(each)) for each in decisions if each not in _DECISIONS]
    blocks = read(answer.goes_on, bool, "continue") is False or any(each in ("block", "deny") for each in decisions)
    verdict = "deny" if blocks else "ask" if "ask" in decisions else ""
    reasons = [
        read(own.permission_decision_reason, str, "permissionDecisionReason"),
        read(answer.reason, str, "reason"),
        read(answer.stop_reason, str, "stopReason"),
    ]
    context = read(own.additional_context, str, "additionalContext")
    notice = read(answer.system_message, str, "systemMessage")
    variables = read(answer.env, dict[str, str], "env")
    return HookOutput(
        verdict=verdict,
        reason=_cut(next(filter(None, reasons), _NO_REASON)) if verdict else "",
        context=_cut(context or ""),
        notice=_cut(notice or ""),
        variables=variables or {},
        trouble=_cut(_not_understood(join_texts("; ", odd))) if odd and not blocks else "",
    )


def _ended(exit_code: int, errors: str) -> str:
    if not errors:
        return say("exit code {code}", code=exit_code)
    return say("exit code {code}: {why}", code=exit_code, why=_cut(errors))


def _not_understood(why: str) -> str:
    return say("what it said is not understood: {problem}", problem=why)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def split_allowed(
    wanted: Mapping[str, str], listed: Sequence[str], secrets: Secrets
) -> tuple[dict[str, str], dict[str, str]]:
    """The variables that a hook may set, and for each of the others why it may not."""
    refused = {name: why for name, value in wanted.items() if (why := _why_not(name, value, listed, secrets))}
    allowed = {name: value for name, value in wanted.items() if name not in refused}
    too_many = dict.fromkeys([*allowed][_MOST:], say("more than {count} variables", count=_MOST))
    return {name: value for name, value in allowed.items() if name not in too_many}, refused | too_many


def _why_not(name: str, value: str, listed: Sequence[str], secrets: Secrets) -> str:
    if not _NAME.fullmatch(name) or "\0" in value:
        return "not a variable"
    if _OURS.fullmatch(name):
        return "not for a hook to set"
    if SECRET_NAME.search(name) or LOGIN_IN_ADDRESS.search(value) or secrets.hide(value) != value:
        return "it looks like a secret"
    if len(value) > _LONGEST:
        return "it is too long"
    if name not in listed and not is_allowed(name):
        return "it is not in the hook's `variables`"
    return ""
