"""The events of agents that run as programs of their own, and of messages kept as these emitted them."""

from typing import Literal

from msgspec import Struct

from coderelay.protocol.event_base import Event
from coderelay.protocol.ids import CallId, MessageId, TurnId


class TurnParked(Event, frozen=True, tag="turn.parked"):
    """The owner of a blocking turn has ended its agent and left, because nobody answered in time. Its asks stay open.
    Nobody owns the session until they are answered; then another claim carries the turn on."""

    turn_id: TurnId


class AgentAttached(Event, frozen=True, tag="agent.attached"):
    """The agent of the open turn has a session of its own, and this is its id: from now on the agent continues there.
    It comes late, with the first turn or never, and may change. `model` and `tools` are what the agent says that it
    uses; the event is written again when they change."""

    turn_id: TurnId
    agent: str
    agent_session_id: str
    model: str = ""
    tools: tuple[str, ...] = ()


class MessageKept(Event, frozen=True, tag="message.kept"):
    """A message exactly as the program of the agent emitted it: `data` is its JSON text. It is written before the
    message is acted upon; `calls`, `results` and `is_last` say which later events of the turn it already contains, so
    that these are not shown twice: the calls it proposes, the results it brings, the end of the turn. With the form
    `cowork` it is a message of the messages projection. `message_id` is the message's own, if it has one; a message
    is kept once in a turn. If it was too large, `left_out` is its size in bytes, and `data` is an outline of it."""

    turn_id: TurnId
    message_id: MessageId
    data: str
    form: str = "cowork"
    calls: tuple[CallId, ...] = ()
    results: tuple[CallId, ...] = ()
    is_last: bool = False
    left_out: int = 0


class PartialBlock(Struct, frozen=True, omit_defaults=True):
    """Pieces of one block of a message, as they were emitted. The block may have begun before them (unless it
    `starts` here) and may go on after them (unless it `stops` here)."""

    index: int
    type: Literal["text", "thinking"]
    pieces: tuple[str, ...] = ()
    starts: bool = False
    stops: bool = False


class PartialsKept(Event, frozen=True, tag="partials.kept"):
    """Pieces of a message that is being written, for those who show messages as they grow; only in turns that keep
    them `always`. Whatever was emitted before an event of the turn is in the log before it. Neither the state nor the
    model's history depends on them. The message may never be completed."""

    turn_id: TurnId
    message_id: MessageId
    blocks: tuple[PartialBlock, ...]
