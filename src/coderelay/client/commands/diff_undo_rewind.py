"""`/diff`, `/undo`, `/rewind`: show changed files, and undo turns."""

import os
import re
import time

from coderelay.client.commands.slash_command import FILES, ONLY_SHOWS, Context, SlashCommand
from coderelay.client.i18n import error_in_words, retell, t
from coderelay.client.slash_results import ChangedFiles, RewoundTurns
from coderelay.protocol.bilingual_text import Localized
from coderelay.protocol.commands import Undone, UndoTurn
from coderelay.protocol.errors import BadInput, CoderError
from coderelay.protocol.queries import ListTurns, ShowDiff, ShowSession
from coderelay.protocol.query_results import FileChange, FilesDiff, TurnShown
from coderelay.protocol.text_escaping_and_width import padded, width_of

_NEXT_FILE = re.compile(r"^(?=diff --git )", re.MULTILINE)  # content lines in a diff never begin with `d`


async def diff(here: Context, what: str) -> str | ChangedFiles:
    found = await here.client.get(ShowDiff(here.session))
    lines = "\n".join(map(changed_line, found.changes)) or t("no changes since the last commit")
    if what == "full":
        return ChangedFiles(lines, found.diff)
    if not what:
        return "\n".join([lines, t("/diff full shows the changes")]) if found.changes else lines
    cwd = (await here.client.get(ShowSession(here.session))).cwd
    path = os.path.relpath(os.path.join(cwd, os.path.expanduser(what)), cwd)
    part = diff_of(found, path)
    if not part:
        told = t("no changes in {path} since the last commit; changed files:", path=path)
        raise BadInput(f"{told}\n{lines}" if found.changes else lines)
    return ChangedFiles("", part)


async def undo(here: Context, _: str) -> str:
    lines = await _undo_one(here)
    return "\n".join([*lines, t("(the last turn was undone; the conversation continues from before it)")])


async def rewind(here: Context, many: str) -> str | RewoundTurns:
    if not many:
        return _listed(await here.client.get(ListTurns(here.session)))
    if not many.isdecimal() or int(many) < 1:
        raise here.usage_error()
    turns = await here.client.get(ListTurns(here.session, limit=int(many)))
    if int(many) > len(turns):
        raise BadInput(t("turns that can be undone: {there}; /rewind lists them", there=len(turns)))
    if int(many) == 1:
        return RewoundTurns(await undo(here, ""), turns[-1].prompt)
    lines: list[str] = []
    for done in range(int(many)):
        try:
            lines += await _undo_one(here)
        except CoderError as error:
            if not done:
                raise
            told = t(
                "({done} of the last {many} turns were undone; the one before them cannot be undone:)",
                done=done,
                many=many,
            )
            return "\n".join([*lines, told, error_in_words(error)])
    told = t("(the last {many} turns were undone; the conversation continues from before them)", many=many)
    return RewoundTurns("\n".join([*lines, told]), turns[-1].prompt)


async def _undo_one(here: Context) -> list[str]:
    outcome = await here.client.send(UndoTurn(session=here.session, by=here.by))
    assert isinstance(outcome, Undone)
    return [
        *(t("restored  {path}", path=path) for path in outcome.restored),
        *(t("removed   {path}", path=path) for path in outcome.removed),
        *(t("kept      {path}", path=retell(text)) for text in outcome.conflicts),
    ]


def _listed(turns: list[TurnShown]) -> str:
    if not turns:
        return t("nothing to undo")
    lines = [line for number, each in enumerate(turns, 1) for line in _turn(number, each)]
    return "\n".join([*lines, t("/rewind N undoes the last N")])


def _turn(number: int, turn: TurnShown) -> list[str]:
    at = time.strftime("%m-%d %H:%M", time.localtime(turn.at / 1000))
    first = turn.prompt.strip().partition("\n")[0]
    problem = [f"     ({retell(turn.problem)})"] if turn.problem else []
    return [f"{number:2}. {at}  {first}", *problem, *(f"     {changed_line(each)}" for each in turn.changes)]


COMMANDS = (
    SlashCommand(
        name="diff",
        group=FILES,
        text=Localized(
            "show what has changed since the last commit: the files, the full diff, or one file or folder",
            "显示自上次提交以来的改动：文件列表、完整 diff，或某个文件或目录",
        ),
        run=diff,
        hint="[full|FILE]",
        choices=("full",),
        detail=ONLY_SHOWS,
        example="/diff src/cart.py",
        completes="changed file",
        remote=True,
    ),
    SlashCommand(
        name="undo",
        group=FILES,
        text=Localized(
            "undo the last turn, in the files and in the conversation; repeat to undo one more",
            "撤销上一回合的文件改动和对话；再次执行则再撤销一个回合",
        ),
        run=undo,
        detail=Localized(
            "Restores all files that the turn changed, including those its commands changed. Files that you "
            "have changed since are kept and listed.",
            "恢复该回合改动的所有文件，包括其命令的改动；你之后改动过的文件会保留并列出。",
        ),
        remote=True,
    ),
    SlashCommand(
        name="rewind",
        group=FILES,
        text=Localized("list the turns that can be undone, or undo the last N", "列出可撤销的回合；或撤销最后 N 个"),
        run=rewind,
        hint="[N]",
        detail=Localized(
            "Same as running /undo N times, the latest turn first.", "等同于执行 N 次 /undo，从最近的回合开始。"
        ),
        example="/rewind 2",
        remote=True,
    ),
)


def diff_of(difference: FilesDiff, path: str) -> str:
    """The part of a diff about `path`, or about files beneath it. The path `.` stands for all of them."""
    if path == ".":
        return difference.diff
    headers = {_header(each) for each in difference.changes if _is_about(each, path)}
    return "".join(part for part in _NEXT_FILE.split(difference.diff) if part.partition("\n")[0] in headers)


def _header(change: FileChange) -> str:
    return f"diff --git a/{change.was or change.path} b/{change.path}"


def _is_about(change: FileChange, path: str) -> bool:
    return any(name == path or name.startswith(f"{path}/") for name in change.names)


_KINDS = ("added", "modified", "deleted", "renamed")


def changed_line(change: FileChange) -> str:
    name = f"{change.was} → {change.path}" if change.was else change.path
    size = t("binary") if change.binary else f"+{change.added} -{change.deleted}"
    return f"{padded(t(change.kind), 8)} {' ' * (9 - width_of(size))}{size}  {name}"
