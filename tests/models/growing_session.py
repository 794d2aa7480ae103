"""A session that grows the way a log makes it grow, and what a model is told of it."""

from coderelay.models.model import Completion
from coderelay.protocol.calls import Call, Need, Outcome
from coderelay.protocol.events import Judged, MessageAdded, TurnStarted
from coderelay.protocol.ids import CallId, MessageId, PromptId, SessionId, TurnId
from coderelay.protocol.message_content import Block, Image
from coderelay.session.model_messages import Message, Transcript
from coderelay.session.state import CallState, State


class Session:
    def __init__(self) -> None:
        self.state = State(SessionId("s"))
        self._transcript = Transcript()

    @property
    def messages(self) -> list[Message]:
        return self._transcript.update(self.state)

    def prompted(self, text: str, *images: Image) -> "Session":
        prompt_id = PromptId(f"p{len(self.state.history)}")
        self.state.images[prompt_id] = images
        self.state.history.append(
            TurnStarted(
                turn_id=TurnId("t"),
                prompt_id=prompt_id,
                text=text,
                agent="native",
                model="m",
                mode="yolo",
                cwd="/",
                max_steps=9,
            )
        )
        return self

    def said(self, *blocks: Block, **outcomes: tuple[Call, Outcome]) -> "Session":
        return self._said(blocks, *outcomes.values())

    def heard(self, completion: Completion, *outcomes: Outcome) -> "Session":
        """What a model answered, and how its calls ended."""
        return self._said(completion.blocks, *zip(completion.calls, outcomes, strict=True))

    def _said(self, blocks: tuple[Block, ...], *ended: tuple[Call, Outcome]) -> "Session":
        calls = tuple(call for call, _ in ended)
        message = MessageAdded(message_id=MessageId("m"), turn_id=TurnId("t"), model="m", blocks=blocks, calls=calls)
        for call, outcome in ended:
            judged = Judged(call.id, "allow", Need(call.name, "command", call.name))
            self.state.calls[call.id] = CallState(call, MessageId("m"), judged, outcome=outcome)
        self.state.history.append(message)
        return self


def called(call_id: str, arguments: str = '{"command":"make"}', name: str = "bash") -> Call:
    return Call(CallId(call_id), name, arguments)
