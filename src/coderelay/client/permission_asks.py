"""What a person is shown before a call may run, and what `always` would mean."""

import time

from coderelay.protocol.asks import Approval, PermissionAsk
from coderelay.protocol.calls import Need, Right

_LINES, _FIRST, _LAST = 40, 25, 10
_CHARACTERS, _HEAD, _TAIL = 4000, 2500, 1000
_RIGHTS: dict[Right, str] = {"network": "with the network", "outside": "outside of any sandbox"}


def permission_in_words(ask: PermissionAsk) -> str:
    need = ask.need
    title = need.title if need.command is None else shortened(need.command)
    return "\n  ".join([f"{need.tool} wants: {title}", ask.reason, *_surroundings(need)])


def shortened(command: str) -> str:
    """The command itself. Of a long one the beginning and the end, and how long it is."""
    lines = command.splitlines()
    size = f"({len(lines):,} lines, {len(command.encode(errors='replace')):,} bytes)"
    if len(lines) > _LINES:
        left_out = len(lines) - _FIRST - _LAST
        first, last = map("\n".join, (lines[:_FIRST], lines[-_LAST:]))
        return f"{_cut(first)}\n… {left_out:,} lines left out …\n{_cut(last)}\n{size}"
    return command if len(command) <= _CHARACTERS else f"{_cut(command)}\n{size}"


def _cut(text: str) -> str:
    if len(text) <= _CHARACTERS:
        return text
    left_out = len(text) - _HEAD - _TAIL
    return f"{text[:_HEAD]}… {left_out:,} characters left out …{text[-_TAIL:]}"


def _surroundings(need: Need) -> list[str]:
    if need.server:
        return [f"always: {need.tool}, whatever it is told"]
    if need.command is None:
        return []
    where = {"": "", "none": "runs without a sandbox"}.get(need.sandbox, f"runs in a sandbox ({need.sandbox})")
    if "outside" in need.rights and need.sandbox not in ("", "none"):
        where = ""
    facts = [where, *(f"runs {_RIGHTS[right]}" for right in need.rights)]
    facts.append("goes on running in the background" if need.background else "")
    told = ", ".join(fact for fact in facts if fact)
    return [*([told] if told else []), f"always: {_kept(need.words, need.prefix)}"]


def approval_in_words(approval: Approval) -> str:
    """One line: what need not be asked again, where, and until when."""
    text = _kept(approval.words, approval.prefix) if approval.words else " ⏎ ".join(approval.title.splitlines())
    text = "whatever it is told" if approval.server else text
    rights = "".join(f", {_RIGHTS[right]}" for right in approval.rights)
    where = approval.project or ("everywhere" if approval.scope == "person" else "this session")
    until = "" if approval.expires is None else f", until {time.strftime('%Y-%m-%d', _time(approval.expires))}"
    return f"{approval.tool}: {text}{rights}  ({where}{until})"


def _time(ms: int) -> time.struct_time:
    return time.localtime(ms / 1000)


def _kept(words: tuple[str, ...], prefix: bool) -> str:
    if not words:
        return "exactly this text"
    said = " ".join(word if word and not set(word) & set(" \t\n'\"") else repr(word) for word in words)
    return f"{said} …" if prefix else said
