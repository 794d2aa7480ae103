"""The events of prompts."""

from typing import Literal

from coderelay.protocol.asks import By, Unanswered
from coderelay.protocol.event_base import Event
from coderelay.protocol.ids import PromptId, TurnId
from coderelay.protocol.message_content import Image

Task = Literal["prompt", "compact", "shell"]


class PromptAdmitted(Event, frozen=True, tag="prompt.admitted"):
    """A prompt is on disk and waits for its turn. Questions of that turn wait `answer_within` seconds for an answer
    (None: without limit); `unanswered` says what happens after that. With `steer`, the prompt joins an open turn at
    its next step. With the task `compact` the model gets no prompt: the turn summarises the earlier history. With the
    task `shell` it gets none either: the turn runs `text` as the person's own command. `typed` is what the person
    typed, if `text` has more: the expansion of a slash command, or input that was piped in."""

    prompt_id: PromptId
    text: str
    by: By
    max_steps: int | None = None
    answer_within: int | None = None
    unanswered: Unanswered = "deny"
    images: tuple[Image, ...] = ()
    steer: bool = False
    task: Task = "prompt"
    typed: str = ""

    @property
    def typed_text(self) -> str:
        """What the person typed."""
        return f"!{self.text}" if self.task == "shell" else self.typed or self.text


class PromptEdited(Event, frozen=True, tag="prompt.edited"):
    """The text of a queued prompt was replaced; its place in the queue stays. From now on it counts as sent `by`
    whoever edited it, and what only one of its authors is allowed does not count in its turn."""

    prompt_id: PromptId
    text: str
    by: By


class PromptRecalled(Event, frozen=True, tag="prompt.recalled"):
    """A prompt was removed from the queue before its turn began. It will never get a turn."""

    prompt_id: PromptId
    by: By


class PromptTaken(Event, frozen=True, tag="prompt.taken"):
    """A queued prompt joins the open turn, between two steps. It gets no turn of its own. `images` counts its own."""

    prompt_id: PromptId
    turn_id: TurnId
    text: str
    typed: str = ""
    images: int = 0

    @property
    def typed_text(self) -> str:
        """What the person typed."""
        return self.typed or self.text
