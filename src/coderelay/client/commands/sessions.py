"""`/new`, `/fork`, `/resume`, `/sessions`, `/title`, `/exit`: start, copy, switch, list, name and leave sessions."""

import os

from coderelay.client.commands.slash_command import CONVERSATION, ONLY_SHOWS, SESSIONS, Context, SlashCommand
from coderelay.client.find_session import find_session, is_known, session_line
from coderelay.client.i18n import retell, t
from coderelay.client.slash_results import LeftSession, SwitchedSession
from coderelay.protocol.bilingual_text import Localized
from coderelay.protocol.commands import ConfigureSession, CreateSession, ForkSession, OpenSession, WriteSnapshot
from coderelay.protocol.errors import BadInput
from coderelay.protocol.ids import SessionId, new_id
from coderelay.protocol.projected_rows import Summary
from coderelay.protocol.queries import ListSessions, ShowPermissions, ShowSession, SuggestTitle, WhyNotRun

_SHOWN = 20
_LOOKED_AT = 1000  # rows read to find `_SHOWN` of them: sessions that were never used are not shown


async def new(here: Context, title: str) -> SwitchedSession:
    """Start a session with the settings of this one: agent, model, mode, preset, folders, tools, thinking effort."""
    row = await here.client.get(ShowSession(here.session))
    preset = (await here.client.get(ShowPermissions(here.session))).preset
    session = SessionId(new_id())
    outcome = await here.client.send(
        CreateSession(
            session=session,
            cwd=row.cwd,
            model=row.model,
            mode=row.mode,
            agent=row.agent,
            title=title,
            allowed_tools=row.allowed_tools,
            think=row.think,
            folders=row.folders,
            profile=row.profile if row.profile == here.client.capabilities.profile else "",
            by=here.by,
        )
    )
    if (await here.client.get(ShowPermissions(session))).preset != preset:
        outcome = await here.client.send(ConfigureSession(session=session, preset=preset, by=here.by))
    await here.client.send(WriteSnapshot(session=here.session, by=here.by))
    told = t("new session {session} · {model} · {mode}", session=session, model=row.model, mode=row.mode)
    before = t("go back with /resume {session}", session=here.session)
    if row.turn_open or row.queued:
        before = t("the previous session keeps running; go back with /resume {session}", session=here.session)
    return SwitchedSession(session, outcome.head, f"{told}\n{t('({text})', text=before)}")


async def resume(here: Context, name: str) -> str | SwitchedSession:
    if not name:
        return _listed(here, await _of_this_folder(here), with_folder=False)
    row = await (_numbered(here, int(name)) if _is_number(name) else find_session(here.client, name))
    if row.id == here.session:
        raise BadInput(t("this session is already open"))
    outcome = await here.client.send(OpenSession(session=row.id, by=here.by))
    problem = await here.client.get(WhyNotRun(row.id))
    return SwitchedSession(row.id, outcome.head, _greeting(row, problem))


async def sessions(here: Context, text: str) -> str:
    return _listed(here, await _used(here, ListSessions(text=text, limit=_LOOKED_AT)), with_folder=True)


async def title(here: Context, text: str) -> str:
    given = text or await here.client.get(SuggestTitle(here.session))
    await here.client.send(ConfigureSession(session=here.session, title=given, by=here.by))
    return t("title: {title}", title=given)


async def leave(_: Context, __: str) -> LeftSession:
    return LeftSession()


async def fork(here: Context, title: str) -> SwitchedSession:
    """Continue in a new session that begins with the conversation of this one."""
    row = await here.client.get(ShowSession(here.session))
    session = SessionId(new_id())
    named = title or (t("{title} (fork)", title=row.title) if row.title else "")
    command = ForkSession(session=here.session, to=session, title=named, by=here.by)
    outcome = await here.client.send(command)
    await here.client.send(WriteSnapshot(session=here.session, by=here.by))
    lines = [
        t("forked: you are now in session {session}, with a copy of this conversation", session=session),
        t("not copied: approvals, undo of earlier turns, background commands, queued prompts"),
        *([t("the turn that is running is not copied; it continues in the other session")] if row.turn_open else []),
        t("go back with /resume {session}", session=here.session),
    ]
    return SwitchedSession(session, outcome.head, "\n".join(lines))


def _listed(here: Context, rows: list[Summary], *, with_folder: bool) -> str:
    if not rows:
        return t("no sessions found")
    here.numbered["resume"] = [each.id for each in rows]
    home = os.path.expanduser("~")
    lines = [
        f"{'*' if each.id == here.session else ' '}{number:2}. {session_line(each, home, with_folder=with_folder)}"
        for number, each in enumerate(rows, 1)
    ]
    more = (
        [t("(showing the newest {count}; /sessions TEXT finds others)", count=_SHOWN)] if len(rows) == _SHOWN else []
    )
    return "\n".join([*lines, *more, t("/resume N opens one")])


async def _of_this_folder(here: Context) -> list[Summary]:
    cwd = (await here.client.get(ShowSession(here.session))).cwd
    return await _used(here, ListSessions(cwd=cwd, limit=_LOOKED_AT))


async def _used(here: Context, query: ListSessions) -> list[Summary]:
    return [each for each in await here.client.get(query) if is_known(each)][:_SHOWN]


def _is_number(name: str) -> bool:
    """Whether the name is a number in the list; a longer number may be the beginning of an id."""
    return name.isdecimal() and len(name) <= len(str(_SHOWN))


async def _numbered(here: Context, number: int) -> Summary:
    shown = here.numbered.get("resume") or [each.id for each in await _of_this_folder(here)]
    if not 1 <= number <= len(shown):
        raise BadInput(t("no session {number} in the list; /resume shows the list", number=number))
    return await here.client.get(ShowSession(SessionId(shown[number - 1])))


def _greeting(row: Summary, problem: str | None) -> str:
    lines = [
        t(
            "session {session} · {model} · {mode} · {cwd}",
            session=row.id,
            model=row.model,
            mode=row.mode,
            cwd=row.cwd,
        ),
        *([row.title] if row.title else []),
        *([t("last prompt: {prompt}", prompt=row.last_prompt.strip())] if row.last_prompt.strip() else []),
        *([t("(the last turn did not finish)")] if row.turn_open else []),
        *([t("(this process cannot continue the session: {problem})", problem=retell(problem))] if problem else []),
    ]
    return "\n".join(lines)


_STAYS = Localized(
    "The current session is kept, and a turn that is running in it continues.",
    "当前会话保留，其中正在运行的回合继续执行。",
)
_LEAVES = Localized("The session is kept; continue it with `coder resume`.", "会话保留；用 `coder resume` 继续。")
COMMANDS = (
    SlashCommand(
        name="title",
        group=CONVERSATION,
        text=Localized(
            "rename the session; without TEXT, a small model suggests a title",
            "重命名会话；不带 TEXT 则由小模型拟定标题",
        ),
        run=title,
        hint="[TEXT]",
        detail=Localized("Changes only the title.", "只改动标题。"),
        example="/title Taxes in the cart",
        remote=True,
    ),
    SlashCommand(
        name="new",
        group=SESSIONS,
        text=Localized(
            "start a new session with an empty context; the current session is kept",
            "创建新会话，上下文为空；当前会话保留",
        ),
        run=new,
        hint="[TITLE]",
        detail=_STAYS,
        example="/new Look at the login",
    ),
    SlashCommand(
        name="resume",
        group=SESSIONS,
        text=Localized(
            "switch to another session; without an argument, list the sessions of this folder",
            "切换到其他会话；不带参数则列出本目录的会话",
        ),
        run=resume,
        hint="[ID|TITLE|N]",
        detail=_STAYS,
        example="/resume Taxes",
        completes="session",
    ),
    SlashCommand(
        name="sessions",
        group=SESSIONS,
        text=Localized(
            "list all sessions, or those that match TEXT; /resume N opens one",
            "列出所有会话，或与 TEXT 匹配的会话；用 /resume N 打开",
        ),
        run=sessions,
        hint="[TEXT]",
        detail=ONLY_SHOWS,
        example="/sessions cart tax",
        completes="session",
    ),
    SlashCommand(
        name="exit",
        group=SESSIONS,
        text=Localized("exit coder; the session is kept", "退出 coder；会话保留"),
        run=leave,
        detail=_LEAVES,
    ),
    SlashCommand(
        name="quit",
        group=SESSIONS,
        text=Localized("same as /exit", "同 /exit"),
        run=leave,
        detail=_LEAVES,
    ),
    SlashCommand(
        name="fork",
        group=SESSIONS,
        text=Localized(
            "continue in a new session that begins with this conversation", "以当前对话为开头，在新会话中继续"
        ),
        run=fork,
        hint="[TITLE]",
        detail=Localized(
            "Copies the conversation up to the last finished turn, and the settings. Approvals, undo of earlier "
            "turns, background commands and queued prompts stay with this session, which is kept. The files are the "
            "same for both.",
            "复制到最近一个已结束回合为止的对话以及设置。许可、此前回合的撤销、后台命令和排队的提示留在当前会话中，"
            "当前会话保留。两个会话使用相同的文件。",
        ),
        example="/fork Try it with a cache",
    ),
)
