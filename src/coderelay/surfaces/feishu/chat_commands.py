"""The slash commands of a chat. Any other text with a slash, and all text with `!`, is ordinary text."""

import os
import time
from collections.abc import Awaitable, Callable

from msgspec import Struct

from coderelay.client.i18n import localize
from coderelay.protocol.bilingual_text import Localized
from coderelay.protocol.commands import ConfigureSession
from coderelay.protocol.errors import BadInput
from coderelay.protocol.ids import ids_meant
from coderelay.protocol.modes import MODES
from coderelay.protocol.projected_rows import Summary
from coderelay.protocol.queries import ListAsks, ListFolders, ListSessions
from coderelay.protocol.session_setting_values import Mode
from coderelay.protocol.wall_clock import now
from coderelay.surfaces.feishu.access_rules import person
from coderelay.surfaces.feishu.chat_records import ChatKey, CurrentSession
from coderelay.surfaces.feishu.chat_status import ChatStatus, state_of
from coderelay.surfaces.feishu.incoming_event_types import ChatMessage
from coderelay.surfaces.feishu.message_handler import MessageHandler

_LISTED = 10
_ALL = 1_000_000
_MODES: dict[str, Mode] = {name: each.name for each in MODES for name in (each.name, *each.aliases)}
_ORDER = [each.name for each in MODES]
_STATES: dict[ChatStatus, Localized] = {
    ChatStatus.IDLE: Localized("ready for a task", "空闲"),
    ChatStatus.EXECUTING: Localized("working", "执行中"),
    ChatStatus.WAITING_INPUT: Localized("waiting for your reply", "等待回复"),
    ChatStatus.WAITING_CONFIRM: Localized("waiting for a confirmation", "等待确认"),
}
_NO_SESSION = Localized("There is no session yet; send a message to begin one.", "还没有会话；直接发送消息即可开始。")
_NEW = Localized("New session", "已新建会话")
_NEW_TEXT = Localized("Folder: {folder}", "工作目录：{folder}")
_SESSIONS = Localized("Sessions", "会话列表")
_NOW = Localized("current", "当前")
_USE_HINT = Localized(
    "/use NUMBER or the beginning of an id continues one.", "发送 /use 编号 或会话 ID 的开头即可切换。"
)
_USED = Localized("Continuing this session", "已切换会话")
_NO_SUCH = Localized(
    "there is no such session of yours; /sessions lists them", "没有这个会话；发送 /sessions 查看列表"
)
_STOPPED = Localized("Stopped", "已停止")
_NOT_RUNNING = Localized("Nothing is running.", "当前没有正在执行的任务。")
_NOT_YOURS = Localized("only the owner of the session may do that", "只有会话所有者可以执行此操作")
_MODE = Localized("Mode: {mode}", "模式：{mode}")
_MODE_LOOSER = Localized(
    "from a chat the mode can only become stricter; it is {mode}", "聊天中只能收紧权限模式；当前为 {mode}"
)
_MODE_UNKNOWN = Localized("the modes are: {names}", "可用模式：{names}")
_CD = Localized("Folder of this chat", "工作目录")
_CD_TEXT = Localized(
    "The next session works in {folder}. Send a message to begin it.",
    "下一个会话将在 {folder} 中进行，直接发送消息即可开始。",
)
_STATUS = Localized("Status", "状态")
_STATUS_TEXT = Localized(
    "{state}\nSession: {title}\nFolder: {cwd}\nMode: {mode}\nModel: {model}\nQueued: {queued}",
    "{state}\n会话：{title}\n目录：{cwd}\n模式：{mode}\n模型：{model}\n排队：{queued}",
)
_HELP = Localized("Commands", "可用命令")
_LINKED = Localized("Linked", "已绑定")
_LINKED_TEXT = Localized(
    "You are {person} on this machine. Requests of your sessions arrive here.",
    "你已绑定为主机用户 {person}，其会话的请求将发送到这里。",
)
_NOT_LINKED = Localized(
    "the code is wrong, used or too old; `coder feishu link` makes a new one",
    "绑定码无效或已过期；请重新运行 `coder feishu link`",
)
_ONLY_P2P = Localized(
    "others can read this code, so it is void; send a new one in a one-to-one chat with the bot",
    "群成员可以看到绑定码，该绑定码已作废；请重新生成，并在与机器人的单聊中发送",
)


class Here(Struct, frozen=True):
    chat: MessageHandler
    message: ChatMessage
    key: ChatKey
    rest: str

    async def session(self) -> Summary:
        summary = await self.chat.current(self.message, self.key)
        if summary is None:
            raise BadInput(localize(_NO_SESSION))
        return summary

    async def own_session(self) -> Summary:
        """The current session, if it is the sender's."""
        summary = await self.session()
        place = await self.chat.records.place(summary.id)
        is_own = place is not None and place.owner == self.message.sender
        if not is_own and not await self.chat.is_host_owner(self.message.sender):
            raise BadInput(localize(_NOT_YOURS))
        return summary


Told = tuple[str, str]


class ChatCommand(Struct, frozen=True):
    """`run` returns the title and the text of the reply."""

    name: str
    text: Localized
    run: Callable[[Here], Awaitable[Told]]
    hint: str = ""


class ChatCommands:
    async def run(self, chat: MessageHandler, message: ChatMessage, key: ChatKey) -> bool:
        """Carry out a command. Returns whether the message was one, or came from somebody who may not use the bot."""
        name, _, rest = message.text.strip().partition(" ")
        if name == "/link":
            title, text = await _link(Here(chat, message, key, rest.strip()))
            await chat.tell(message, title, text)
            return True
        if not await chat.may_talk(message):
            return True
        command = _BY_NAME.get(name.removeprefix("/")) if name.startswith("/") else None
        if command is None:
            return False
        title, text = await command.run(Here(chat, message, key, rest.strip()))
        await chat.tell(message, title, text)
        return True


async def _new(here: Here) -> Told:
    summary = await here.chat.new_session(here.message, here.key, here.rest)
    return localize(_NEW), localize(_NEW_TEXT, folder=summary.cwd)


async def _sessions(here: Here) -> Told:
    current = (await here.chat.records.current_session(here.key)).session
    lines = [
        f"{number}. {each.title or each.last_prompt or each.id[:8]} · {each.id[:8]} · {_when(each)}"
        + (f" · {localize(_NOW)}" if each.id == current else "")
        for number, each in enumerate(await _sessions_of_sender(here), 1)
    ]
    return localize(_SESSIONS), "\n".join([*lines, "", localize(_USE_HINT)] if lines else [localize(_NO_SESSION)])


async def _use(here: Here) -> Told:
    own = await _sessions_of_sender(here)
    chosen: Summary | None = None
    if here.rest.isdecimal() and 1 <= int(here.rest) <= len(own):
        chosen = own[int(here.rest) - 1]
    else:
        everything = await _sessions_of_sender(here, _ALL)
        meant = ids_meant(here.rest, [each.id for each in everything])
        chosen = next((each for each in everything if [each.id] == meant), None)
    if chosen is None:
        raise BadInput(localize(_NO_SUCH))
    await here.chat.bind(chosen.id, here.message, here.key, cursor=chosen.head)
    await here.chat.records.request_presentation(chosen.id)
    here.chat.wake_presenter(chosen.id)
    return localize(_USED), chosen.title or chosen.last_prompt or chosen.id


async def _stop(here: Here) -> Told:
    summary = await here.session()
    if summary.sender != person(here.message.sender).who:
        summary = await here.own_session()
    if not summary.turn_open:
        return localize(_STOPPED), localize(_NOT_RUNNING)
    await here.chat.execution(summary.id, here.message.sender).finish()
    return localize(_STOPPED), ""


async def _mode(here: Here) -> Told:
    if not here.rest:
        return localize(_MODE, mode=(await here.session()).mode), ""
    wanted = _MODES.get(here.rest.lower())
    if wanted is None:
        raise BadInput(localize(_MODE_UNKNOWN, names=", ".join(_ORDER)))
    summary = await here.own_session()
    if _ORDER.index(wanted) > _ORDER.index(summary.mode):
        raise BadInput(localize(_MODE_LOOSER, mode=summary.mode))
    by = person(here.message.sender)
    await here.chat.client.send(ConfigureSession(session=summary.id, mode=wanted, by=by))
    return localize(_MODE, mode=wanted), ""


async def _cd(here: Here) -> Told:
    """The folder of the chat's next session. The host refuses what is not beneath one of the roots."""
    roots = here.chat.options.reachable
    path = here.rest
    if path and not os.path.isabs(path):
        path = os.path.join(roots[0], path)
    shown = await here.chat.client.get(ListFolders(roots, path))
    if not here.rest:
        return localize(_CD), "\n".join([*roots, *shown.folders])
    await here.chat.records.set_current_session(here.key, CurrentSession(None, shown.path))
    return localize(_CD), localize(_CD_TEXT, folder=shown.path)


async def _status(here: Here) -> Told:
    summary = await here.session()
    asks = [each.ask for each in await here.chat.client.get(ListAsks(summary.id))]
    text = localize(
        _STATUS_TEXT,
        state=localize(_STATES[state_of(summary, asks)]),
        title=summary.title or summary.id,
        cwd=summary.cwd,
        mode=summary.mode,
        model=summary.model,
        queued=summary.queued,
    )
    return localize(_STATUS), text


async def _help(_: Here) -> Told:
    lines = [f"/{each.name}{f' {each.hint}' if each.hint else ''}  {localize(each.text)}" for each in COMMANDS]
    return localize(_HELP), "\n".join(lines)


async def _link(here: Here) -> Told:
    message = here.message
    if message.chat_kind != "p2p":
        await here.chat.links.withdraw(here.rest)  # others have read it
        raise BadInput(localize(_ONLY_P2P))
    link = await here.chat.links.redeem(here.rest, message.sender, message.chat_id, now())
    if link is None:
        raise BadInput(localize(_NOT_LINKED))
    return localize(_LINKED), localize(_LINKED_TEXT, person=link.person)


async def _sessions_of_sender(here: Here, limit: int = _LISTED) -> list[Summary]:
    """The sessions that the sender may use: their own, or all that a linked person of the host has."""
    people = await here.chat.names_of(here.message.sender)
    everything = await here.chat.client.get(ListSessions(limit=_ALL))
    return [each for each in everything if each.person in people][:limit]


def _when(summary: Summary) -> str:
    return time.strftime("%m-%d %H:%M", time.localtime(summary.updated_at / 1000))


COMMANDS = (
    ChatCommand("new", Localized("begin a new session", "新建会话"), _new, "[TITLE]"),
    ChatCommand("sessions", Localized("list your sessions", "列出你的会话"), _sessions),
    ChatCommand("use", Localized("continue another session", "切换会话"), _use, "N|ID"),
    ChatCommand("stop", Localized("stop what is running", "停止当前任务"), _stop),
    ChatCommand("mode", Localized("show the mode, or make it stricter", "查看或收紧权限模式"), _mode, "[MODE]"),
    ChatCommand("cd", Localized("choose the folder of the next session", "选择下一个会话的目录"), _cd, "[FOLDER]"),
    ChatCommand("status", Localized("show the current session", "查看当前会话"), _status),
    ChatCommand("help", Localized("list the commands", "列出命令"), _help),
)
_BY_NAME = {each.name: each for each in COMMANDS}
