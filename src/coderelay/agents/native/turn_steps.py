"""The steps of a native turn: ask the model, run its calls, check the work, compact a long history; with retries."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from coderelay.agents.native import compaction
from coderelay.agents.native.loop_detection import REPEATED, find_repeated, was_warned
from coderelay.agents.native.model_request_with_retries import ModelChanged, ModelRequests
from coderelay.agents.native.native_settings import NativeSettings
from coderelay.agents.native.prompt.notes_for_model import Offered, current_notes, new_notes
from coderelay.agents.native.prompt.system_prompt import system_prompt
from coderelay.agents.native.turn_toolbox import TurnToolbox
from coderelay.agents.turn import Turn
from coderelay.models.model import Completion, Model, Models, Request
from coderelay.models.text_tool_calls import with_text_call
from coderelay.protocol.calls import Call, Finished, Outcome, Unknown
from coderelay.protocol.errors import ModelFailed
from coderelay.protocol.events import HistoryCompacted, MessageAdded
from coderelay.protocol.ids import CallId, new_id
from coderelay.protocol.live_updates import Notice
from coderelay.protocol.message_content import Note, text_of
from coderelay.protocol.query_results import SkillShown
from coderelay.protocol.translatable import say
from coderelay.session.model_messages import Message, Transcript, UserMessage, with_notes
from coderelay.session.state import State
from coderelay.session.turn_event_builder import calls_to_run
from coderelay.tools.toolbox import Toolbox
from coderelay.workspace.workspace import Workspace

if TYPE_CHECKING:
    from coderelay.agents.native.workflow.verification_after_edits import VerificationAfterEdits

_SHORTEST = 20  # characters; a text with three English keywords is longer
_MARKS = frozenset(",./)\n")  # without one of these characters, an English text has no separate items

MOST_CALLS = 64
"""The most calls in one message. If there are more, none of them is run, because no person could review them all."""

_SUMMARY_WINDOW = 0.5  # the largest share of its context window that the summariser is given to read


class TurnSteps:
    """Carries out the single steps of one turn. `turn.next_action()` says which step is next."""

    def __init__(
        self,
        turn: Turn,
        models: Models,
        toolbox: Toolbox,
        workspace: Workspace,
        settings: NativeSettings,
        tools: TurnToolbox,
    ) -> None:
        self._turn = turn
        self._tools = tools
        self._models = models
        self._toolbox = toolbox
        self._workspace = workspace
        self._settings = settings
        workspace.known.fingerprints = lambda: turn.state.seen
        workspace.background = turn.background
        self._transcript = Transcript()
        self._agent = turn.settings.agent
        self._model = models.open(turn.settings.model)
        self._requests = ModelRequests(turn, settings.retry_seconds, self._current_model)

    async def ask_model(self) -> None:
        if await self._begin_list() or await self._read_named_file():
            return
        await self._turn.take_steering()
        self._toolbox = await self._tools.ready()
        model = self._current_model()
        if self._is_too_long(model):
            await self.compact()
        if not await self._turn.may_continue():
            return
        try:
            await self._ask(model)
        except ModelFailed as failed:
            if not failed.too_long:
                raise
            await self.compact()
            if await self._turn.may_continue():
                await self._ask(model)

    async def run_calls(self) -> None:
        calls = [each.call for each in calls_to_run(self._turn.state)]
        unknown = [call.name for call in calls if not self._toolbox.has(call.name)]
        if unknown:  # another process proposed these calls, and this one has not loaded the MCP tools yet
            self._toolbox = await self._tools.ready(unknown)
        await self._turn.perform(calls, self._run)

    async def check(self) -> None:
        """Check the work of a turn in which the model proposes no more calls."""
        await self._checking().go_on()

    async def compact(self) -> None:
        """Replace everything but the last messages with a summary."""
        if not await self._turn.may_continue():
            return
        state, model = self._turn.state, self._current_model()
        dropped = compaction.entries_to_drop(state, self._settings.compaction.keep, model.card.context)
        if not dropped:
            self._turn.show(Notice("nothing to compact"))
            await self._turn.compact(HistoryCompacted(turn_id=self._turn.id, summary="", dropped=0, model=model.id))
            return
        if not compaction.is_wanted(state):
            self._turn.show(Notice("compacting the context: the conversation is long"))
        summariser, completion = await self._sum_up(model, dropped)
        summary = compaction.with_open_requests(text_of(completion.blocks), state, dropped, model.card.context)
        before = compaction.tokens_now(state, self._transcript.update(state), self._overhead(model))
        await self._turn.compact(
            HistoryCompacted(
                turn_id=self._turn.id,
                summary=summary,
                dropped=dropped,
                tokens_before=before,
                tokens_after=max(0, before - compaction.freed_tokens(state, dropped, summary)),
                model=summariser.id,
                usage=completion.usage,
                cost=summariser.card.price.of(completion.usage) if summariser.card.price else None,
            )
        )

    async def _begin_list(self) -> bool:
        """At the very start of a turn, start a todo list if the prompt is a task of many steps."""
        turn = self._turn.state.turn
        if turn is None or turn.steps or turn.calls or not self._settings.workflow.todos:
            return False
        if self._turn.settings.parent is not None or self._model.card.is_small:  # a small model takes it for the work
            return False
        if not may_be_complex(turn.started.typed_text):
            return False
        from coderelay.agents.native.workflow.todos_from_prompt import begin_list  # not loaded for short prompts

        return await begin_list(self._turn, self._toolbox, self._workspace, self._settings.workflow.language)

    async def _read_named_file(self) -> bool:
        turn = self._turn.state.turn
        if turn is None or turn.steps or not self._model.card.is_small:
            return False
        from coderelay.agents.native.workflow.read_files_named_in_prompt import (
            read_next_named_file,  # most models are not small
        )

        return await read_next_named_file(self._turn, self._toolbox, self._workspace)

    def _checking(self, workspace: Workspace | None = None) -> "VerificationAfterEdits":
        from coderelay.agents.native.workflow.verification_after_edits import (
            VerificationAfterEdits,  # loaded with the first change of a file: most turns make none
        )

        return VerificationAfterEdits(
            self._turn, self._toolbox, workspace or self._workspace, self._settings.workflow
        )

    def _is_to_check(self, completion: Completion) -> bool:
        if completion.calls or completion.stop_reason == "refusal" or not has_edited(self._turn.state):
            return False
        return self._settings.workflow.verification.enabled and self._checking().due() is not None

    async def _run(self, call: Call) -> Outcome:
        proposed = self._turn.state.calls[call.id]
        workspace = self._workspace.with_tasks(
            lambda description, prompt, subagent: self._turn.give_task(call.id, description, prompt, subagent)
        )
        if proposed.judged.need.kind == "command":
            workspace = workspace.with_output_listener(self._turn.listener(call.id))
            if proposed.author == "workflow":
                return await self._checking(workspace).run(call)
        return await self._toolbox.run(call, workspace, proposed.judged.need)

    async def _sum_up(self, model: Model, dropped: int) -> tuple[Model, Completion]:
        """Summarise with the small model of the same provider, or with the session's model if that one fails."""
        small = self._models.open(self._models.cheap(model.id))
        try:
            return small, await self._summary(small, dropped)
        except ModelFailed as failed:
            if small.id == model.id:
                raise
            self._turn.show(
                Notice(
                    say(
                        "{small}: {problem}; {model} writes the summary instead",
                        small=small.id,
                        problem=failed.message,
                        model=model.id,
                    )
                )
            )
        return model, await self._summary(model, dropped)

    async def _summary(self, summariser: Model, dropped: int) -> Completion:
        window = int(summariser.card.context * _SUMMARY_WINDOW)
        told = compaction.summariser_input(self._turn.state, dropped, window)
        request = Request(compaction.SUMMARISER, [UserMessage(told)], think="off")
        _, completion = await self._requests.receive(summariser, request, shown=False)
        if completion.stop_reason == "refusal" or not text_of(completion.blocks).strip():
            raise ModelFailed("the model made no summary")
        return completion

    def _current_model(self) -> Model:
        """A model that is changed in mid-turn answers from the next step on. If the agent is changed too, the new
        model waits for the next turn."""
        settings = self._turn.settings
        if self._model.id != settings.model and settings.agent == self._agent:
            self._model = self._models.open(settings.model)
        return self._model

    def _is_too_long(self, model: Model) -> bool:
        state = self._turn.state
        messages, overhead = self._transcript.update(state), self._overhead(model)
        threshold = self._settings.compaction.threshold
        return len(state.history) > 1 and compaction.is_due(state, messages, overhead, model.card.context, threshold)

    def _overhead(self, model: Model) -> int:
        """The size of a request without its messages, in bytes."""
        return len(self._system(model)) + 500 * len(self._toolbox.specs)

    async def _ask(self, model: Model) -> None:
        state = self._turn.state
        notes = self._notes(state, model)
        messages = with_notes(self._transcript.update(state), notes)
        request = self._request(model, messages)
        try:
            message_id, completion = await self._requests.receive(model, request, notes=notes)
        except ModelChanged:
            return  # the next step asks the new model
        completion = with_text_call(completion, request.tools)
        calls = _with_unique_ids(completion.calls, state.calls)
        message = MessageAdded(
            message_id=message_id,
            turn_id=self._turn.id,
            model=model.id,
            blocks=completion.blocks,
            calls=calls,
            usage=completion.usage,
            stop_reason=completion.stop_reason,
            notes=tuple(notes),
            cost=model.card.price.of(completion.usage) if model.card.price else None,
            to_check=self._is_to_check(completion),
        )
        again = find_repeated(calls, state)
        given_up = again is not None and was_warned(again, state)
        needs = [self._toolbox.need(call, self._workspace) for call in calls]
        problem = REPEATED if again is not None else _too_many(len(calls))
        if problem:
            needs = [replace(need, problem=problem) for need in needs]
        await self._turn.add(message, needs, final=not calls and not message.to_check)
        if given_up:
            raise ModelFailed(say("the model keeps repeating the same {tool} call", tool=calls[0].name))

    def _notes(self, state: State, model: Model) -> list[Note]:
        offered = Offered(self._skills(), self._settings.subagents if self._toolbox.has("task") else ())
        known = current_notes(state, self._workspace.disk, self._settings.home, model.card.context, offered)
        hide = self._settings.secrets.hide
        fresh = new_notes(known, state.told)  # few are, and masking takes longer than comparing
        return new_notes([replace(note, text=hide(note.text)) for note in fresh], state.told)

    def _skills(self) -> tuple[SkillShown, ...]:
        return self._settings.skills if self._toolbox.has("skill") else ()

    def _system(self, model: Model) -> str:
        return system_prompt(small=model.card.is_small, child=self._turn.settings.parent is not None)

    def _request(self, model: Model, messages: Sequence[Message]) -> Request:
        turn = self._turn
        return Request(self._system(model), messages, self._toolbox.specs, turn.settings.think, turn.session)


def _too_many(calls: int) -> str:
    if calls <= MOST_CALLS:
        return ""
    return say(
        "{calls} calls in one message are too many, so none of them was run; make at most {most} in one message",
        calls=calls,
        most=MOST_CALLS,
    )


def _with_unique_ids(calls: tuple[Call, ...], known: dict[CallId, Any]) -> tuple[Call, ...]:
    """Some servers send no call ids, or count from 0 in every message. This makes the ids unique in the session."""
    unique: dict[CallId, Call] = {}
    for call in calls:
        free = call.id and call.id not in known and call.id not in unique
        call_id = call.id if free else CallId(f"call_{new_id()}")
        unique[call_id] = replace(call, id=call_id)
    return tuple(unique.values())


def may_be_complex(prompt: str) -> bool:
    """False only if the prompt is certainly a simple one."""
    text = prompt.strip()
    return len(text) >= _SHORTEST or not text.isascii() or not _MARKS.isdisjoint(text)


def has_edited(state: State) -> bool:
    """Whether the open turn has changed files with an editing tool, or may have."""
    calls = [state.calls[call_id] for call_id in state.turn.calls] if state.turn is not None else []
    return any(each.judged.need.kind == "edit" and isinstance(each.outcome, Finished | Unknown) for each in calls)
