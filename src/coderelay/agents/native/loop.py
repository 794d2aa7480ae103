"""The loop: ask the model, run what it proposes, until it proposes nothing more."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

from msgspec.structs import replace

from coderelay.agents.agent import Description, Turn
from coderelay.agents.native.prompt.system import system_prompt
from coderelay.models.model import Completion, Model, Request, TextPiece, ThinkingPiece
from coderelay.protocol.calls import Call, Outcome
from coderelay.protocol.content import Block, Text, Thinking
from coderelay.protocol.errors import ModelFailed
from coderelay.protocol.events import MessageAdded
from coderelay.protocol.ids import CallId, MessageId, new_id
from coderelay.protocol.live import TextDelta, ThinkingDelta
from coderelay.session.next_action import AskModel, RunCall
from coderelay.session.state import Settings
from coderelay.session.transcript import Transcript
from coderelay.tools.toolbox import Toolbox
from coderelay.workspace.workspace import Workspace


class NativeAgent:
    name = "native"

    def __init__(
        self,
        open_model: Callable[[str], Model],
        toolbox: Toolbox,
        open_workspace: Callable[[str], Workspace],
        why_not: Callable[[str], str | None],
    ) -> None:
        self._open_model = open_model
        self._toolbox = toolbox
        self._open_workspace = open_workspace
        self._why_not = why_not

    def cannot_run(self, settings: Settings) -> str | None:
        return self._why_not(settings.model)

    def describe(self, settings: Settings) -> Description:
        return Description(system_prompt(settings.cwd, settings.mode), self._toolbox.specs)

    async def run(self, turn: Turn) -> None:
        model = self._open_model(turn.state.turn.started.model if turn.state.turn else turn.settings.model)
        step = _Steps(
            turn, model, self._toolbox, self._open_workspace(turn.settings.cwd), self.describe(turn.settings)
        )
        while True:
            match turn.next_action():
                case AskModel():
                    await step.ask_model()
                case RunCall(call_id):
                    await step.run_call(turn.state.calls[call_id].call)
                case _:
                    return

    async def close(self) -> None:
        return


class _Steps:
    """The two kinds of step of one turn."""

    def __init__(
        self, turn: Turn, model: Model, toolbox: Toolbox, workspace: Workspace, description: Description
    ) -> None:
        self._turn = turn
        self._model = model
        self._toolbox = toolbox
        self._workspace = workspace
        self._description = description
        self._transcript = Transcript()

    async def ask_model(self) -> None:
        message_id = MessageId(new_id())
        request = Request(
            self._description.system, self._transcript.update(self._turn.state), self._description.tools
        )
        heard = _Heard()
        try:
            completion = await self._hear(request, message_id, heard)
        except asyncio.CancelledError:
            await asyncio.shield(self._keep_partial(message_id, heard))
            raise
        if not completion.blocks and not completion.calls:
            raise ModelFailed("the model gave an empty answer", retryable=True)
        calls = _with_unique_ids(completion.calls, self._turn.state.calls)
        message = MessageAdded(
            message_id=message_id,
            turn_id=self._turn.id,
            model=self._model.id,
            blocks=completion.blocks,
            calls=calls,
            usage=completion.usage,
            stop_reason=completion.stop_reason,
        )
        needs = [self._toolbox.need(call, self._workspace) for call in calls]
        await self._turn.add(message, needs, final=not calls)

    async def run_call(self, call: Call) -> None:
        async def effect() -> Outcome:
            return await self._toolbox.run(call, self._workspace)

        await self._turn.perform(call, effect)

    async def _hear(self, request: Request, message_id: MessageId, heard: "_Heard") -> Completion:
        async with aclosing(self._model.stream(request)) as pieces:
            async for piece in pieces:
                match piece:
                    case TextPiece(text):
                        heard.text.append(text)
                        self._turn.show(TextDelta(message_id, text))
                    case ThinkingPiece(text):
                        heard.thinking.append(text)
                        self._turn.show(ThinkingDelta(message_id, text))
                    case Completion():
                        return piece
        raise ModelFailed("the model ended without an answer", retryable=True)

    async def _keep_partial(self, message_id: MessageId, heard: "_Heard") -> None:
        """A stop in mid-answer keeps the words that were shown. Half-received calls are dropped."""
        state = self._turn.state
        if not heard.text or state.turn is None or not state.turn.stop_requested:
            return
        message = MessageAdded(
            message_id=message_id,
            turn_id=self._turn.id,
            model=self._model.id,
            blocks=heard.blocks(),
            stop_reason="cancelled",
        )
        await self._turn.add(message, [], final=False)


class _Heard:
    """What has come in of a message so far."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.thinking: list[str] = []

    def blocks(self) -> tuple[Block, ...]:
        blocks: list[Block] = [Thinking("".join(self.thinking))] if self.thinking else []
        return (*blocks, Text("".join(self.text)))


def _with_unique_ids(calls: tuple[Call, ...], known: dict[CallId, Any]) -> tuple[Call, ...]:
    """Some servers send no ids, or count from 0 in every message; ours are unique in the session."""
    unique: dict[CallId, Call] = {}
    for call in calls:
        free = call.id and call.id not in known and call.id not in unique
        call_id = call.id if free else CallId(f"call_{new_id()}")
        unique[call_id] = replace(call, id=call_id)
    return tuple(unique.values())
