"""What a transcript may say, whoever made it."""

from collections.abc import Sequence

from coderelay.protocol.calls import Call
from coderelay.session.transcript import AssistantMessage, Message, ToolMessage, UserMessage
from tests.session.checker import Checker
from tests.session.promises import promise


def check_transcript(messages: Sequence[Message], checker: Checker) -> None:
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
    promise(results == list(checker.calls), "calls are missing or strange")
    said = "\n\n".join(message.text for message in messages if isinstance(message, UserMessage))
    promise(said == "\n\n".join(checker.prompts), "prompts are missing or strange (C-03)")
