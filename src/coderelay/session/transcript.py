"""The session as a model sees it: a valid history, whatever was cut off.

Every call is followed by its result, in the order of the calls, and user and assistant messages
alternate: a prompt that got no answer is joined with the next one, and so is what an agent said before
it went on to say more.
"""

from collections.abc import Iterator

from msgspec import Struct

from coderelay.protocol.calls import Call, Denied, Failed, Finished, Outcome, Stopped, Unknown
from coderelay.protocol.content import Block, Image, text_of
from coderelay.protocol.events import MessageAdded, TurnStarted
from coderelay.protocol.ids import CallId
from coderelay.session.state import State


class UserMessage(Struct, frozen=True):
    text: str
    images: tuple[Image, ...] = ()


class AssistantMessage(Struct, frozen=True):
    blocks: tuple[Block, ...]
    calls: tuple[Call, ...]


class ToolMessage(Struct, frozen=True):
    call_id: CallId
    name: str
    text: str
    images: tuple[Image, ...] = ()
    failed: bool = False


Message = UserMessage | AssistantMessage | ToolMessage


class Transcript:
    """Grows with the state, so that a long session is not walked again at every step.

    `messages` keeps the same objects from one `update` to the next, except that the last one may be
    replaced by a longer one.
    """

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self._seen = 0

    def update(self, state: State) -> list[Message]:
        for entry in state.history[self._seen :]:
            for message in _messages(state, entry):
                self._append(message)
        self._seen = len(state.history)
        return self.messages

    def _append(self, message: Message) -> None:
        last = self.messages[-1] if self.messages else None
        if isinstance(message, UserMessage) and isinstance(last, UserMessage):
            self.messages[-1] = UserMessage(f"{last.text}\n\n{message.text}", (*last.images, *message.images))
        elif isinstance(message, AssistantMessage) and isinstance(last, AssistantMessage):
            self.messages[-1] = AssistantMessage((*last.blocks, *message.blocks), message.calls)
        else:
            self.messages.append(message)


def transcript(state: State) -> list[Message]:
    return Transcript().update(state)


def _messages(state: State, entry: TurnStarted | MessageAdded) -> Iterator[Message]:
    if isinstance(entry, TurnStarted):
        yield UserMessage(entry.text)
        return
    if text_of(entry.blocks) or entry.calls:  # thoughts alone are no message a server takes back
        yield AssistantMessage(entry.blocks, entry.calls)
    for call in entry.calls:
        outcome = state.calls[call.id].outcome
        assert outcome is not None, f"call {call.id} has no end yet"
        images = outcome.images if isinstance(outcome, Finished) else ()
        yield ToolMessage(call.id, call.name, result_text(outcome), images, failed=not isinstance(outcome, Finished))


def result_text(outcome: Outcome) -> str:
    match outcome:
        case Finished():
            return outcome.output or "(no output)"
        case Failed():
            return f"Error: {outcome.message}"
        case Denied():
            return f"Not allowed: {outcome.message}. The call did not run."
        case Stopped(started=True):
            return "Stopped by the person while it ran. It may have had effects; check before repeating it."
        case Stopped():
            return "Not run: the person stopped the turn."
        case Unknown():
            return "Interrupted: the process that ran it went away. It may have run; check before repeating it."
