"""Sample events for the checks, helpers that write and read them, and faulty projections of them."""

from collections.abc import Awaitable, Sequence
from typing import TypeVar

from coderelay.client.views.cowork_messages import SessionRows
from coderelay.protocol.asks import Allow, By, PermissionAsk
from coderelay.protocol.calls import Call, Finished, Need
from coderelay.protocol.errors import CoderError
from coderelay.protocol.events import (
    AnyEvent,
    AskAnswered,
    BatchOpened,
    BatchResumed,
    CallEnded,
    CallStarted,
    Judged,
    MessageAdded,
    MessageKept,
    PromptAdmitted,
    Recorded,
    SessionClaimed,
    SessionCreated,
    TurnEnded,
    TurnStarted,
)
from coderelay.protocol.ids import AskId, CallId, MessageId, OwnerId, PromptId, SessionId, TurnId, new_id
from coderelay.protocol.message_content import Text, Thinking
from coderelay.protocol.projected_rows import MessageRow, Summary
from coderelay.protocol.usage_and_cost import Usage
from coderelay.store.store import Store
from coderelay.testing.store_suite.check_framework import ROWS

BY = By("ann", "suite")
A, B, C = SessionId("a"), SessionId("b"), SessionId("c")

E = TypeVar("E", bound=CoderError)


def created(cwd: str = "/work", title: str = "") -> SessionCreated:
    return SessionCreated(cwd=cwd, agent="native", model="m", mode="default", by=BY, title=title)


def prompt(text: str = "go", prompt_id: str | None = None) -> PromptAdmitted:
    return PromptAdmitted(prompt_id=PromptId(prompt_id or new_id()), text=text, by=BY)


def claimed(epoch: int) -> SessionClaimed:
    return SessionClaimed(owner=OwnerId(f"owner-{epoch}"), epoch=epoch)


def turn_started(text: str = "go", prompt_id: str | None = None) -> TurnStarted:
    return TurnStarted(
        turn_id=TurnId(new_id()),
        prompt_id=PromptId(prompt_id or new_id()),
        text=text,
        agent="native",
        model="m",
        mode="default",
        cwd="/work",
        max_steps=8,
        tools=("bash",),
    )


def message_kept(turn: TurnStarted, name: str, data: str, form: str = "cowork") -> MessageKept:
    return MessageKept(turn_id=turn.turn_id, message_id=MessageId(name), data=data, form=form)


def whole_turn(epoch: int = 1, text: str = "build it") -> list[list[AnyEvent]]:
    """The appends of a turn in which a person is asked, as the host writes them."""
    started = turn_started(text)
    turn, message, call = started.turn_id, MessageId(new_id()), CallId(new_id())
    need = Need(tool="bash", kind="command", title="make", command="make")
    ask = PermissionAsk(AskId(new_id()), call, need, "commands are asked about")
    proposal = MessageAdded(
        message_id=message,
        turn_id=turn,
        model="m",
        blocks=(Thinking("hm"), Text("I will build.")),
        calls=(Call(call, "bash", '{"command":"make"}'),),
        usage=Usage(input_tokens=10, output_tokens=5),
    )
    opened = BatchOpened(batch_id=message, turn_id=turn, judged=(Judged(call, "ask", need, ask.reason, ask),))
    final = MessageAdded(message_id=MessageId(new_id()), turn_id=turn, model="m", blocks=(Text("built"),))
    return [
        [PromptAdmitted(prompt_id=started.prompt_id, text=text, by=BY)],
        [claimed(epoch), started],
        [proposal, opened],
        [AskAnswered(ask_id=ask.id, decision=Allow(), by=BY), BatchResumed(batch_id=message)],
        [claimed(epoch + 1), CallStarted(batch_id=message, call_id=call)],
        [CallEnded(batch_id=message, call_id=call, outcome=Finished("ok"), ms=3)],
        [final, TurnEnded(turn_id=turn, ending="done", text="built", steps=2, ms=9)],
    ]


async def write(store: Store, session: SessionId, appends: Sequence[Sequence[AnyEvent]]) -> list[Recorded]:
    """Append each group of events in turn at the end of the session's log."""
    head = (await store.heads([session])).get(session, 0)
    written: list[Recorded] = []
    for events in appends:
        written += await store.append(session, head + len(written), events)
    return written


async def refused(kind: type[E], attempt: Awaitable[object]) -> E:
    try:
        await attempt
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was expected")


async def everything(store: Store, *sessions: SessionId) -> list[object]:
    """All that can be read of a log, to find out whether anything has changed."""
    seen: list[object] = [await store.sessions(), await store.heads(sessions)]
    for session in sessions:
        seen += [await store.read(session), await store.session(session), await store.messages(session)]
    return seen


def summary_of(recorded: Sequence[Recorded]) -> Summary | None:
    row = None
    for each in recorded:
        row = ROWS.summary(row, each)
    return row


def messages_of(recorded: Sequence[Recorded]) -> list[MessageRow]:
    return [row for each in recorded for row in ROWS.messages(each)]


def text_in(recorded: Recorded) -> str:
    assert isinstance(recorded.event, PromptAdmitted | TurnStarted)
    return recorded.event.text


class Stumbled(Exception):
    """An exception outside the CoderError tree, as a bug in a projection would raise."""


class Stumbling(SessionRows):
    """A projection that fails on a prompt with the text `stumble`."""

    def messages(self, recorded: Recorded) -> Sequence[MessageRow]:
        if isinstance(recorded.event, PromptAdmitted) and recorded.event.text == "stumble":
            raise Stumbled
        return super().messages(recorded)


class Blank(SessionRows):
    """A projection that makes no rows."""

    def summary(self, row: Summary | None, recorded: Recorded) -> Summary | None:
        return None
