"""The queue of prompts that wait for their turns, and who wrote each of them."""

from msgspec.structs import replace

from coderelay.protocol.events import PromptAdmitted, PromptEdited
from coderelay.protocol.ids import PromptId
from coderelay.session.state import State


def admit(state: State, event: PromptAdmitted) -> None:
    state.queue.append(event)
    state.prompt_ids.add(event.prompt_id)
    state.held = False
    if event.images:
        state.images[event.prompt_id] = event.images


def edit(state: State, event: PromptEdited) -> None:
    """Replace the text of a prompt, which from now on counts as sent by whoever edited it. Those before them are not
    forgotten: what only one of them allowed or pays for must not carry the words of another."""
    for place, prompt in enumerate(state.queue):
        if prompt.prompt_id == event.prompt_id:
            if prompt.by.who != event.by.who:
                state.earlier_authors.setdefault(event.prompt_id, []).append(prompt.by.who)
            state.queue[place] = replace(prompt, text=event.text, typed="", by=event.by)


def recall(state: State, prompt_id: PromptId) -> None:
    state.images.pop(prompt_id, None)
    leave(state, prompt_id)


def leave(state: State, prompt_id: PromptId) -> list[str]:
    """Take a prompt out of the queue. Returns the people who wrote it, whoever sent or edited it last first."""
    authors = [each.by.who for each in state.queue if each.prompt_id == prompt_id]
    state.queue = [each for each in state.queue if each.prompt_id != prompt_id]
    return authors + state.earlier_authors.pop(prompt_id, [])
