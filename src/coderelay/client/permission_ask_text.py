"""The text of a permission ask: what the call would do, how it runs, and what `always` would cover."""

import time
from typing import TYPE_CHECKING

from coderelay.client.i18n import retell, t
from coderelay.protocol.asks import Approval, PermissionAsk
from coderelay.protocol.calls import Need, Right

if TYPE_CHECKING:
    from coderelay.protocol.query_results import PermissionsShown

_LINES, _FIRST, _LAST = 40, 25, 10
_CHARACTERS, _HEAD, _TAIL = 4000, 2500, 1000

_RIGHTS: dict[Right, str] = {"network": "with network access", "outside": "outside the sandbox"}
_RUNS: dict[Right, str] = {"network": "runs with network access", "outside": "runs outside the sandbox"}


def permission_in_words(ask: PermissionAsk, question: str = "") -> str:
    """The question, or another one in its place, and below it the command, the reason and the circumstances."""
    need = ask.need
    command = [f"$ {shortened(need.command)}"] if need.command is not None else []
    asked = question or permission_question(need)
    return "\n  ".join([asked, *command, retell(ask.reason, ask.said), *context_lines(need)])


def permission_question(need: Need) -> str:
    """What is asked, on one line. A command is shown below it."""
    if need.command is not None:
        return t("Run this command?")
    if need.kind == "edit":
        is_new = len(need.paths) < 2 and need.diff.startswith("--- /dev/null")
        return t("Create {title}?", title=need.title) if is_new else t("Edit {title}?", title=need.title)
    if need.kind == "read" and need.paths and need.title in need.paths[0]:
        return t("Read {title}?", title=need.title)
    return t("Allow {tool}: {title}?", tool=need.tool, title=need.title)


def shortened(command: str) -> str:
    """The command itself; a long one is cut to its beginning and its end, with its size."""
    lines = command.splitlines()
    length = len(command.encode(errors="replace"))
    size = (
        t("(1 line, {bytes} bytes)", bytes=f"{length:,}")
        if len(lines) == 1
        else t("({lines} lines, {bytes} bytes)", lines=f"{len(lines):,}", bytes=f"{length:,}")
    )
    if len(lines) > _LINES:
        left_out = t("… {count} lines left out …", count=f"{len(lines) - _FIRST - _LAST:,}")
        first, last = map("\n".join, (lines[:_FIRST], lines[-_LAST:]))
        return f"{_cut(first)}\n{left_out}\n{_cut(last)}\n{size}"
    return command if len(command) <= _CHARACTERS else f"{_cut(command)}\n{size}"


def _cut(text: str) -> str:
    if len(text) <= _CHARACTERS:
        return text
    left_out = t("… {count} characters left out …", count=f"{len(text) - _HEAD - _TAIL:,}")
    return f"{text[:_HEAD]}{left_out}{text[-_TAIL:]}"


def context_lines(need: Need) -> list[str]:
    if need.kind == "ask":
        return []
    if need.server or need.command is None:
        return [_always(need)]
    facts = [_sandbox(need), *(t(_RUNS[right]) for right in need.rights)]
    facts.append(t("runs in {folder}", folder=repr(need.folder)) if need.folder else "")
    facts.append(t("keeps running in the background") if need.background else "")
    told = t(", ").join(fact for fact in facts if fact)
    return [*([told] if told else []), t("always: {rule}", rule=_remembered(need))]


def _remembered(need: Need) -> str:
    """What an approval of this command would cover. Must agree with `policy.remembered_approvals.covers`."""
    if not need.rights:
        return _kept(need.words, need.prefix)
    return t(", ").join([t("exactly this command"), *(t(_RIGHTS[right]) for right in need.rights)])


def _always(need: Need) -> str:
    """What an approval of a call other than a command would cover. Must agree with
    `policy.remembered_approvals.covers`."""
    count = len(need.paths)
    if need.server:
        return t("always: {tool} with any arguments", tool=need.tool)
    if need.kind == "edit" and count == 1:
        return t("always: any edit to this file")
    if need.kind == "edit" and count:
        return t("always: {tool} on exactly these {count} files", tool=need.tool, count=count)
    if count:
        return t("always: {tool} on {paths}", tool=need.tool, paths=", ".join(need.paths))
    return t("always: {tool} {title}", tool=need.tool, title=need.title)


def _sandbox(need: Need) -> str:
    if need.sandbox == "none":
        return t("runs without a sandbox")
    return (
        t("runs in a sandbox ({sandbox})", sandbox=need.sandbox)
        if need.sandbox and "outside" not in need.rights
        else ""
    )


def sandbox_in_words(shown: "PermissionsShown") -> str:
    """What commands run in: the name of the sandbox, `none`, or `off` if there is one that this mode does not use."""
    if not shown.sandbox:
        return t("unknown")
    if shown.sandbox == "none":
        return t("none")
    return shown.sandbox if shown.confined else t("off")


def approval_in_words(approval: Approval) -> str:
    """One line: what is approved, where, and until when."""
    by_words = approval.words and not approval.rights  # an approval with rights covers only the exact text
    text = _kept(approval.words, approval.prefix) if by_words else " ⏎ ".join(approval.title.splitlines())
    text = t("any arguments") if approval.server else text
    rights = "".join(t(", ") + t(_RIGHTS[right]) for right in approval.rights)
    where = approval.project or (t("everywhere") if approval.scope == "person" else t("this session"))
    if approval.expires is not None:
        where += t(", until {date}", date=time.strftime("%Y-%m-%d", _time(approval.expires)))
    tool = "edit" if approval.edits else approval.tool
    return f"{tool}: {text}{rights}  ({where})"


def _time(ms: int) -> time.struct_time:
    return time.localtime(ms / 1000)


def _kept(words: tuple[str, ...], prefix: bool) -> str:
    if not words:
        return t("exactly this command")
    said = " ".join(word if word and not set(word) & set(" \t\n'\"") else repr(word) for word in words)
    if not prefix:
        return said
    from coderelay.policy.shell.approval_signatures import takes_files  # loaded for the first one shown

    if takes_files(words):
        return t("{command} with any files here and safe options", command=said)
    return t("{command} with safe options", command=said)
