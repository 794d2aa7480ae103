"""Checks of the prompt queue in a log: each prompt waits until it is started, taken or recalled, once."""

from msgspec import Struct, field
from msgspec.structs import replace

from coderelay.protocol.events import PromptAdmitted, PromptEdited, PromptRecalled, PromptTaken, TurnStarted
from coderelay.protocol.ids import PromptId
from tests.session.ask_checks import BrokenPromise, promise


class WaitingPrompts(Struct):
    """`held`: a stop came after the last of them. `authors` sent or edited each prompt that waits."""

    admitted: set[PromptId] = field(default_factory=set[PromptId])
    queue: list[PromptAdmitted] = field(default_factory=list[PromptAdmitted])
    authors: dict[PromptId, set[str]] = field(default_factory=dict[PromptId, set[str]])
    held: bool = False

    def are_to_run(self) -> bool:
        return bool(self.queue) and not self.held

    def admit(self, event: PromptAdmitted) -> None:
        promise(event.prompt_id not in self.admitted, "a prompt was admitted twice")
        self.admitted.add(event.prompt_id)
        self.queue.append(event)
        self.authors[event.prompt_id] = {event.by.who}
        self.held = False

    def edit(self, event: PromptEdited) -> None:
        prompt = self._waiting(event.prompt_id, "edited")
        promise(prompt.task == "prompt", "the word for a summary was edited")
        promise(bool(event.text.strip()), "a prompt was emptied")
        self.queue[self.queue.index(prompt)] = replace(prompt, text=event.text, by=event.by)
        self.authors[event.prompt_id].add(event.by.who)

    def recall(self, event: PromptRecalled) -> None:
        self.queue.remove(self._waiting(event.prompt_id, "recalled"))

    def take(self, event: PromptTaken) -> None:
        prompt = self._waiting(event.prompt_id, "taken")
        promise(prompt.steer, "a prompt was taken that was not sent to steer")
        first = next(each for each in self.queue if each.steer)
        promise(first is prompt, "prompts that steer were taken out of order")
        promise(event.text == prompt.text, "a prompt was taken with other words")
        self.queue.remove(prompt)

    def start(self, event: TurnStarted) -> PromptAdmitted:
        promise(not self.held, "a queued prompt started after a stop (X-12)")
        promise(bool(self.queue), "a turn without a prompt")
        prompt = self.queue.pop(0)
        promise(event.prompt_id == prompt.prompt_id, "prompts ran out of order")
        promise(event.text == prompt.text, "a prompt started with other words")
        promise(event.task == prompt.task, "a prompt started as something else")
        promise(event.by == prompt.by, "a prompt started in the name of somebody else")
        return prompt

    def steering(self) -> list[PromptAdmitted]:
        return [each for each in self.queue if each.steer]

    def _waiting(self, prompt_id: PromptId, done: str) -> PromptAdmitted:
        for prompt in self.queue:
            if prompt.prompt_id == prompt_id:
                return prompt
        raise BrokenPromise(f"a prompt was {done} that did not wait")
