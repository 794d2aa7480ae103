"""What becomes of a message: a new turn, an answer, a place in the queue, or a command. The state of the session
decides, and the session is the current one of the chat."""

import logging
import unicodedata
from typing import Protocol

from coderelay.client.client import Client
from coderelay.client.i18n import error_in_words, localize, retell, speaking
from coderelay.protocol.asks import Allow, Ask, Decision, Deny, PlanAsk, PlanDecision, QuestionAsk
from coderelay.protocol.bilingual_text import Localized
from coderelay.protocol.commands import Answered, CreateSession, DeleteSession
from coderelay.protocol.errors import BadInput, CannotRun, CoderError, StoreFailed, UnknownAsk, UnknownSession
from coderelay.protocol.ids import PromptId, SessionId, derived_id
from coderelay.protocol.modes import stricter_mode
from coderelay.protocol.projected_rows import AskRow, Summary
from coderelay.protocol.queries import ListAsks, ListFolders, ShowDefaults, ShowSession, WhyNotRun
from coderelay.surfaces.feishu.access_rules import person
from coderelay.surfaces.feishu.account_links import Links
from coderelay.surfaces.feishu.ask_cards import Closed, chosen_in_words
from coderelay.surfaces.feishu.card_layout import Colour, card_of
from coderelay.surfaces.feishu.card_outbox_interface import CardOutbox, ChatPlace
from coderelay.surfaces.feishu.chat_options import ChatOptions
from coderelay.surfaces.feishu.chat_records import ChatKey, ChatRecords, CurrentSession, Route, SessionPlace
from coderelay.surfaces.feishu.chat_status import ChatStatus, state_of
from coderelay.surfaces.feishu.incoming_event_types import ChatMessage
from coderelay.surfaces.feishu.session_client import SessionClient, parse_words, start_execution
from coderelay.surfaces.feishu.turn_and_notice_cards import notice_card

log = logging.getLogger(__name__)

_TITLE = 60
_WORDS: dict[str, bool] = {"确认": True, "yes": True, "取消": False, "no": False}
_REFUSED = Localized("No access", "暂无使用权限")
_REFUSED_TEXT = Localized(
    "Sorry, this bot does not know you yet. Whoever runs it can add your id to `feishu.users`: {open_id}",
    "抱歉，你还没有使用此机器人的权限。请联系管理员将你的 ID 加入 `feishu.users`：{open_id}",
)
_ERROR = Localized("That did not work", "操作未成功")
_INTERNAL = Localized(
    "An internal error occurred; its details are in the log of the bot.", "发生内部错误，详情见机器人日志。"
)
_NOT_AN_ANSWER = Localized("This does not answer the question", "回复无法识别")
_BUSY = Localized("Busy", "正在执行任务")
_BUSY_TEXT = Localized(
    "The message was ignored. Send it again when the task is done.", "消息未处理，请在任务完成后重新发送。"
)
_NO_TEXT = Localized("Text only", "仅支持文字消息")
_NO_TEXT_TEXT = Localized("The bot can only read text.", "机器人暂时只能处理文字消息。")
_CANNOT_RUN = Localized("The session cannot run here now", "会话暂时无法在此执行")
_ELSEWHERE = Localized("Already answered", "已有答复")
_CLICK = Localized("Please use the buttons of the card", "请点击卡片上的按钮")
_CLICK_TEXT = Localized(
    "The message waits until the request is decided.", "当前请求需在卡片上确认；此消息已排队，待处理后执行。"
)


class Presenter(Protocol):
    """What shows the sessions in their chats."""

    def wake(self, session: SessionId) -> None: ...


class Commands(Protocol):
    async def run(self, chat: "MessageHandler", message: ChatMessage, key: ChatKey) -> bool: ...


class MessageHandler:
    def __init__(
        self,
        client: Client,
        records: ChatRecords,
        links: Links,
        outbox: CardOutbox,
        options: ChatOptions,
        presenter: Presenter,
        commands: Commands,
    ) -> None:
        self.client = client
        self.records = records
        self.links = links
        self.options = options
        self._outbox = outbox
        self._presenter = presenter
        self._commands = commands

    async def message(self, message: ChatMessage) -> None:
        if message.chat_kind == "group" and not message.mentions_bot:
            return
        with speaking(self.client.language):
            try:
                await self._take(message)
            except StoreFailed:
                raise  # the message is handed over again
            except CoderError as error:
                await self.tell(message, localize(_ERROR), error_in_words(error), colour="red")
            except Exception:
                log.exception("a message could not be handled")
                await self.tell(message, localize(_ERROR), localize(_INTERNAL), colour="red")

    async def _take(self, message: ChatMessage) -> None:
        key = self.key_of(message)
        if await self._commands.run(self, message, key):
            return
        if not message.text.strip():
            await self.tell(message, localize(_NO_TEXT), localize(_NO_TEXT_TEXT))
            return
        if (route := await self.records.route(message.message_id)) is not None:
            await self._repeat_after_crash(message, route)
            return
        summary = await self.current(message, key) or await self._first_session(message, key)
        await self.bind(summary.id, message, key, cursor=summary.head)
        await self._route(message, summary)

    async def may_talk(self, message: ChatMessage) -> bool:
        """Whether the sender may use the bot. Somebody who may not is told so once."""
        is_linked = bool(await self.links.people(message.sender))
        if self.options.access.may_talk(message.sender, message.chat_id, message.chat_kind, is_linked=is_linked):
            return True
        if await self.records.is_first(f"refused/{message.chat_id}/{message.sender}"):
            await self.tell(message, localize(_REFUSED), localize(_REFUSED_TEXT, open_id=message.sender))
        return False

    async def current(self, message: ChatMessage, key: ChatKey) -> Summary | None:
        """The current session of the chat. The members of a group may share it; else it must be the sender's own, or
        of a person whom they are linked with still."""
        session = (await self.records.current_session(key)).session
        summary = None if session is None else await self._summary(session)
        if summary is None or not key.who or summary.person in await self.names_of(message.sender):
            return summary
        return None

    async def names_of(self, open_id: str) -> frozenset[str]:
        """As whom this person has sessions."""
        return await self.links.people(open_id) | {person(open_id).who}

    async def is_host_owner(self, open_id: str) -> bool:
        return self.options.host_person in await self.links.people(open_id)

    def key_of(self, message: ChatMessage) -> ChatKey:
        is_shared = message.chat_kind == "group" and self.options.shares_groups
        return ChatKey(message.chat_id, message.thread_id, "" if is_shared else message.sender)

    async def new_session(self, message: ChatMessage, key: ChatKey, title: str) -> Summary:
        """Create a session for the chat, and make it the current one."""
        session = await self._create(message, await self.records.current_session(key), title)
        await self.bind(session, message, key, cursor=0)
        return await self.client.get(ShowSession(session))

    async def _first_session(self, message: ChatMessage, key: ChatKey) -> Summary:
        """A session for a chat that has none; the one of another bot, if that has begun one at the same time."""
        current = await self.records.current_session(key)
        session = await self._create(message, current, message.text)
        if not await self.records.replace_current_session(current, key, CurrentSession(session, current.folder)):
            other = await self.current(message, key)
            if other is not None and other.id != session:
                await self.client.send(DeleteSession(session=session, by=person(message.sender)))
                return other
        return await self.client.get(ShowSession(session))

    async def _create(self, message: ChatMessage, current: CurrentSession, title: str) -> SessionId:
        """Create a session in the folder that was chosen for the chat. Its id follows from the message, so that a
        message creates one session however often it is handed over."""
        session = SessionId(derived_id("feishu", message.message_id))
        cwd = await self._folder(current)
        defaults = await self.client.get(ShowDefaults(cwd))
        is_owner = await self.is_host_owner(message.sender)
        if await self._summary(session) is None:
            problem = await self.client.get(WhyNotRun(cwd=cwd, model=defaults.model, agent=defaults.agent))
            if problem is not None:
                raise CannotRun(problem)
            await self.client.send(
                CreateSession(
                    session=session,
                    cwd=cwd,
                    agent=defaults.agent,
                    model=defaults.model,
                    mode=defaults.mode if is_owner else stricter_mode(defaults.mode, "default"),
                    title=" ".join(title.split())[:_TITLE],
                    by=person(message.sender),
                )
            )
        return session

    async def _folder(self, current: CurrentSession) -> str:
        """The folder that was chosen for the chat. Raises BadInput if it is not among the roots any more."""
        if not current.folder:
            return self.options.cwd
        return (await self.client.get(ListFolders(self.options.reachable, current.folder))).path

    async def bind(self, session: SessionId, message: ChatMessage, key: ChatKey, *, cursor: int) -> None:
        """Make a session the current one of the chat, and show it there from `cursor` on."""
        known = await self.records.place(session)
        if known is None or known.chat_id != message.chat_id:
            reply_to = message.message_id if message.thread_id else ""
            place = SessionPlace(message.chat_id, message.sender, reply_to, message.chat_kind, cursor)
            await self.records.put_place(session, place)
        current = await self.records.current_session(key)
        if current.session != session:
            await self.records.set_current_session(key, CurrentSession(session, current.folder))

    async def tell(self, message: ChatMessage, title: str, text: str = "", *, colour: Colour = "grey") -> None:
        """Answer a message with a card that only tells something."""
        card = card_of(notice_card(title, text, colour=colour), self.options.schema)
        await self._outbox.show(f"notice/{message.message_id}", ChatPlace(message.chat_id, message.message_id), card)

    def wake_presenter(self, session: SessionId) -> None:
        self._presenter.wake(session)

    def execution(self, session: SessionId, open_id: str) -> SessionClient:
        return SessionClient(self.client, session, person(open_id), answer_within=self.options.input_timeout_s)

    async def _route(self, message: ChatMessage, summary: Summary) -> None:
        rows = await self.client.get(ListAsks(summary.id))
        match state_of(summary, [each.ask for each in rows]):
            case ChatStatus.IDLE:
                await self._prompt(message, summary.id, is_queued=False)
                await self._tell_why_not(message, summary)
            case ChatStatus.EXECUTING:
                await self._while_running(message, summary)
            case ChatStatus.WAITING_INPUT:
                await self._input(message, summary, rows)
            case ChatStatus.WAITING_CONFIRM:
                await self._typed(message, summary, rows)

    async def _tell_why_not(self, message: ChatMessage, summary: Summary) -> None:
        """The prompt is kept in any case, and somebody may be able to run the session later."""
        reason = await self.client.get(WhyNotRun(session=summary.id)) if summary.machine is None else None
        if reason is not None:
            await self.tell(message, localize(_CANNOT_RUN), retell(reason), colour="orange")

    async def _repeat_after_crash(self, message: ChatMessage, route: Route) -> None:
        """Handle a message again that was handled before a crash: what it led to is repeated, and takes effect
        once."""
        if route.ask is None:
            await self._prompt(message, route.session, is_queued=False)
            return
        for row in await self.client.get(ListAsks(route.session)):
            if row.ask.id == route.ask and route.decision is not None:
                await self._answer(message, route.session, row, route.decision)

    async def _prompt(
        self, message: ChatMessage, session: SessionId, *, is_queued: bool = True, steer: bool = False
    ) -> None:
        prompt = PromptId(derived_id("feishu prompt", message.message_id))
        await self.records.put_route(message.message_id, Route(session))
        if is_queued:
            await self.records.put_reply(prompt, message.message_id)
        execution = self.execution(session, message.sender)
        if steer:
            await execution.steer(message.text, prompt)
        else:
            await start_execution(execution, message.text, prompt)
        self._presenter.wake(session)

    async def _while_running(self, message: ChatMessage, summary: Summary) -> None:
        """Only the person whose turn it is steers or stops it by writing; what others write waits."""
        is_own = summary.sender == person(message.sender).who
        match self.options.while_running:
            case "ignore":
                await self.tell(message, localize(_BUSY), localize(_BUSY_TEXT))
            case "steer" if is_own:
                await self._prompt(message, summary.id, steer=True)
            case "stop" if is_own:
                await self.execution(summary.id, message.sender).finish()
                await self._prompt(message, summary.id)
            case "queue" | "steer" | "stop":
                await self._prompt(message, summary.id)

    async def _input(self, message: ChatMessage, summary: Summary, rows: list[AskRow]) -> None:
        """A text answers the question, if the person may answer it; from anybody else it waits for its turn."""
        questions = [each for each in rows if isinstance(each.ask, QuestionAsk)]
        row = questions[0]
        if not await self.may_answer(message.sender, row.ask, row.session, summary):
            await self._prompt(message, summary.id)
            return
        try:
            decision = parse_words(row.ask, message.text)
        except BadInput as error:
            await self.tell(message, localize(_NOT_AN_ANSWER), error_in_words(error), colour="orange")
            return
        await self._answer(message, summary.id, row, decision)

    async def _typed(self, message: ChatMessage, summary: Summary, rows: list[AskRow]) -> None:
        """A typed word decides only for the session's owner in a one-to-one chat with one open request."""
        word = unicodedata.normalize("NFKC", message.text).strip().lower()
        place = await self.records.place(summary.id)
        is_owners = place is not None and place.owner == message.sender
        if word in _WORDS and message.chat_kind == "p2p" and is_owners and len(rows) == 1:
            row = rows[0]
            if await self.may_answer(message.sender, row.ask, row.session, summary):
                await self._answer(message, summary.id, row, _typed_decision(row.ask, agrees=_WORDS[word]))
                return
        await self._prompt(message, summary.id)
        await self.tell(message, localize(_CLICK), localize(_CLICK_TEXT))

    async def may_answer(self, open_id: str, ask: Ask, session: SessionId, summary: Summary) -> bool:
        """`session` is that of the ask, which may be a subagent's; `summary` that of the chat."""
        asked = (summary if session == summary.id else await self.client.get(ShowSession(session))).sender
        linked = await self.links.people(open_id)
        is_owner = self.options.host_person in linked or summary.person in linked
        return self.options.access.may_answer(open_id, ask, asked, is_owner=is_owner)

    async def _answer(self, message: ChatMessage, session: SessionId, row: AskRow, decision: Decision) -> None:
        await self.records.put_route(message.message_id, Route(session, row.ask.id, decision))
        execution = self.execution(row.session, message.sender)
        try:
            sent = await execution.decide(row.session, row.ask.id, decision)
        except UnknownAsk:
            sent = Answered(None, None, 0)
        if isinstance(sent, Answered) and (sent.by, sent.decision) != (person(message.sender), decision):
            await self.tell(message, localize(_ELSEWHERE), chosen_in_words(Closed(sent.decision, sent.by)))
        self._presenter.wake(session)

    async def _summary(self, session: SessionId) -> Summary | None:
        try:
            return await self.client.get(ShowSession(session))
        except UnknownSession:
            return None


def _typed_decision(ask: Ask, *, agrees: bool) -> Decision:
    if isinstance(ask, PlanAsk):
        return PlanDecision("default" if agrees else "keep")
    return Allow() if agrees else Deny()
