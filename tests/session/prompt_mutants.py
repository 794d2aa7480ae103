"""Rules that are wrong in one point each about prompts that wait: to steer, to be edited, to be taken back."""

from collections.abc import Sequence

from msgspec.structs import replace

from coderelay.protocol.commands import EditPrompt
from coderelay.protocol.events import AnyEvent, PromptEdited, PromptTaken, Recorded, TurnStarted
from coderelay.session import turn_event_builder
from coderelay.session.next_action import Action, Rest, StartTurn
from coderelay.session.state import State
from tests.session.mutants import Mutant


class SteeringIsTakenTwice(Mutant):
    breaks = "taken that did not wait"

    def take_steering(self, state: State) -> list[AnyEvent]:
        return [again for each in super().take_steering(state) for again in (each, each)]


class SteeringIsTakenAndStarted(Mutant):
    """It stays in the queue, and gets a turn of its own as well."""

    breaks = "wait instead of|the row says"

    def apply(self, state: State, recorded: Recorded) -> None:
        queue = list(state.queue)
        super().apply(state, recorded)
        if isinstance(recorded.event, PromptTaken):
            state.queue = queue


class SteeringIsLost(Mutant):
    """It leaves the queue, and the model never hears of it."""

    breaks = "prompts are missing or strange"

    def apply(self, state: State, recorded: Recorded) -> None:
        super().apply(state, recorded)
        if isinstance(recorded.event, PromptTaken):
            state.history.pop()


class SteeringTakesTheLastFirst(Mutant):
    breaks = "out of order"

    def take_steering(self, state: State) -> list[AnyEvent]:
        return super().take_steering(state)[::-1]


class SteeringTakesOnlyOne(Mutant):
    breaks = "left behind"

    def take_steering(self, state: State) -> list[AnyEvent]:
        return super().take_steering(state)[:1]


class SteeringTakesTheWholeQueue(Mutant):
    breaks = "not sent to steer"

    def take_steering(self, state: State) -> list[AnyEvent]:
        return super().take_steering(replace(state, queue=[replace(each, steer=True) for each in state.queue]))


class SteeringEntersABatch(Mutant):
    """Taken with the end of a call, although others of the batch are still to run."""

    breaks = r"not between two steps|after the stop"

    def after_calls(self, state: State, ends: Sequence[turn_event_builder.End], *, go_on: bool) -> list[AnyEvent]:
        events = super().after_calls(state, ends, go_on=go_on)
        running = replace(state, turn=replace(state.turn, stop_requested=False)) if state.turn else state
        return [*events, *super().take_steering(running)]


class EditAfterTheStartCounts(Mutant):
    breaks = "edited that did not wait"

    def edit_prompt(self, state: State, command: EditPrompt) -> list[AnyEvent]:
        return [PromptEdited(prompt_id=command.prompt_id, text=command.text, by=command.by)]


class EditIsForgotten(Mutant):
    breaks = "with other words|wait instead of"

    def apply(self, state: State, recorded: Recorded) -> None:
        queue = list(state.queue)
        super().apply(state, recorded)
        if isinstance(recorded.event, PromptEdited):
            state.queue = queue


class EditedPromptIsStillItsSenders(Mutant):
    """Whoever edits a prompt has it run in the name of the person who sent it."""

    breaks = "works for|wait instead of|in the name of"

    def apply(self, state: State, recorded: Recorded) -> None:
        sent = {each.prompt_id: each.by for each in state.queue}
        super().apply(state, recorded)
        if isinstance(recorded.event, PromptEdited):
            state.queue = [replace(each, by=sent[each.prompt_id]) for each in state.queue]
            state.earlier_authors.clear()


class EditorsForgetWhoSent(Mutant):
    """What the editor is allowed alone counts for the words of the sender."""

    breaks = "works for"

    def apply(self, state: State, recorded: Recorded) -> None:
        super().apply(state, recorded)
        state.earlier_authors.clear()


class EditSendsToTheEnd(Mutant):
    breaks = "wait instead of"

    def apply(self, state: State, recorded: Recorded) -> None:
        super().apply(state, recorded)
        if isinstance(recorded.event, PromptEdited):
            edited = recorded.event.prompt_id
            state.queue.sort(key=lambda each: each.prompt_id == edited)


class EditedPromptsStartAsTheyWere(Mutant):
    breaks = "with other words"

    def claim(self, state: State, claim: turn_event_builder.Claim) -> list[AnyEvent]:
        return _with_first_words(super().claim(state, claim), self.sent)

    def __init__(self) -> None:
        self.sent: dict[str, str] = {}

    def apply(self, state: State, recorded: Recorded) -> None:
        super().apply(state, recorded)
        for prompt in state.queue:
            self.sent.setdefault(prompt.prompt_id, prompt.text)


class HeldPromptsAreReleasedByAnEdit(Mutant):
    breaks = "due is Rest"

    def __init__(self) -> None:
        self.edited = False

    def edit_prompt(self, state: State, command: EditPrompt) -> list[AnyEvent]:
        events = super().edit_prompt(state, command)
        self.edited = self.edited or bool(events)
        return events

    def next_action(self, state: State) -> Action:
        action = super().next_action(state)
        return StartTurn() if isinstance(action, Rest) and self.edited and state.queue else action


PROMPT_MUTANTS: list[type[Mutant]] = [
    SteeringIsTakenTwice,
    SteeringIsTakenAndStarted,
    SteeringIsLost,
    SteeringTakesTheLastFirst,
    SteeringTakesOnlyOne,
    SteeringTakesTheWholeQueue,
    SteeringEntersABatch,
    EditAfterTheStartCounts,
    EditIsForgotten,
    EditedPromptIsStillItsSenders,
    EditorsForgetWhoSent,
    EditSendsToTheEnd,
    EditedPromptsStartAsTheyWere,
    HeldPromptsAreReleasedByAnEdit,
]


def _with_first_words(events: Sequence[AnyEvent], words: dict[str, str]) -> list[AnyEvent]:
    return [replace(each, text=words[each.prompt_id]) if isinstance(each, TurnStarted) else each for each in events]
