"""Checks of a transcript, whoever made it."""

from collections.abc import Sequence

from coderelay.protocol.calls import Call
from coderelay.protocol.message_content import text_of
from coderelay.session.model_messages import AssistantMessage, Message, ToolMessage, UserMessage
from tests.session.ask_checks import promise
from tests.session.observed_history import Told


def check_transcript(messages: Sequence[Message], told: Told) -> None:
    """A history every provider accepts, in which nothing that happened is missing."""
    promise(isinstance(messages[0], UserMessage), "the person speaks first")
    owed: list[Call] = []
    before: Message | None = None
    for message in messages:
        if isinstance(message, ToolMessage):
            promise(bool(owed), "a result nobody asked for")
            call = owed.pop(0)
            promise((message.call_id, message.name) == (call.id, call.name), "results out of order")
            promise(bool(message.text), "an empty result")
        else:
            promise(not owed, "a call without its result")
            promise(type(message) is not type(before), f"two of {type(message).__name__} in a row")
        if isinstance(message, AssistantMessage):
            owed = list(message.calls)
        before = message
    promise(not owed, "a call without its result")
    results = [message.call_id for message in messages if isinstance(message, ToolMessage)]
    promise(results == told.calls(), "calls are missing or strange")
    said = [message.text for message in messages if isinstance(message, UserMessage)]
    promise(said == told.by_others(), "prompts are missing or strange (C-03)")
    answers = [text_of(message.blocks) for message in messages if isinstance(message, AssistantMessage)]
    promise("".join(answers) == told.by_the_model(), "what the model said is missing or strange")


def check_continued(sent: Sequence[Message], now: Sequence[Message]) -> None:
    """What was sent is found again in the history, as its beginning: providers charge less for what they have read
    before. Only the last message may have become longer."""
    *same, last = sent
    promise(list(now[: len(same)]) == same, "what was sent before is told otherwise")
    promise(len(now) > len(same) and is_continued(last, now[len(same)]), "the last that was sent is told otherwise")


def is_continued(sent: Message, now: Message) -> bool:
    match sent, now:
        case UserMessage(), UserMessage():
            return now.text.startswith(sent.text) and now.images[: len(sent.images)] == sent.images
        case AssistantMessage(), AssistantMessage():
            return now.blocks[: len(sent.blocks)] == sent.blocks
        case _:
            return sent == now
