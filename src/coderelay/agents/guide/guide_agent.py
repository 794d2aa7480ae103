"""The guide agent: runs a turn without a model, by matching the prompt against a table of patterns (`intents`).

It uses the same tools, approvals and log as an agent with a model, so that a first run shows the real product.
"""

from collections.abc import Callable, Sequence

from coderelay.agents.agent import Description
from coderelay.agents.turn import Turn
from coderelay.protocol.calls import Call
from coderelay.protocol.events import MessageAdded
from coderelay.protocol.ids import CallId, MessageId, new_id
from coderelay.protocol.message_content import Text
from coderelay.session.next_action import AskModel, Compact, RunCall
from coderelay.session.state import SessionSettings, State
from coderelay.tools.toolbox import Toolbox
from coderelay.workspace.workspace import Workspace

_TOOLS = ("read", "write", "bash", "ask_user")
_TITLE = 60


class GuideAgent:
    """`other_agents` returns the names of other agents that are installed here, to tell people about them."""

    name = "guide"
    runs_own_loop = False
    has_own_session_ids = False
    stores_raw_messages = False

    def __init__(
        self,
        toolbox: Toolbox,
        open_workspace: Callable[[Turn], Workspace],
        other_agents: Callable[[], Sequence[str]],
    ) -> None:
        self._toolbox = toolbox
        self._open_workspace = open_workspace
        self._other_agents = other_agents

    def cannot_run(self, settings: SessionSettings) -> str | None:
        return None

    def describe(self, settings: SessionSettings) -> Description:
        tools = tuple(spec for spec in self._toolbox.specs if spec.name in _TOOLS)
        return Description("The guide follows fixed rules; no model is asked.", tools)

    async def suggest_title(self, settings: SessionSettings, prompt: str) -> str:
        return prompt.strip().partition("\n")[0][:_TITLE]

    async def run(self, turn: Turn) -> None:
        workspace = self._open_workspace(turn)
        workspace.known.fingerprints = lambda: turn.state.seen
        while True:
            match turn.next_action():
                case AskModel() | Compact():
                    await self._add(turn, workspace, _next_step(turn.state, self._other_agents))
                case RunCall(call_id):
                    proposed = turn.state.calls[call_id]
                    is_command = proposed.judged.need.kind == "command"
                    heard = workspace.with_output_listener(turn.listener(call_id)) if is_command else workspace
                    await turn.perform([proposed.call], lambda call, there=heard: self._toolbox.run(call, there))
                case _:
                    return

    async def close(self) -> None:
        return

    async def _add(self, turn: Turn, workspace: Workspace, step: Call | str) -> None:
        is_last = isinstance(step, str)
        message = MessageAdded(
            message_id=MessageId(new_id()),
            turn_id=turn.id,
            model=self.name,
            blocks=(Text(step),) if is_last else (),
            calls=() if is_last else (step,),
        )
        needs = [self._toolbox.need(call, workspace) for call in message.calls]
        await turn.add(message, needs, final=is_last)


def _next_step(state: State, other_agents: Callable[[], Sequence[str]]) -> Call | str:
    """The next call to make, or the final answer of the turn."""
    from coderelay.agents.guide.intents import script_for  # a session with a model needs neither table nor replies
    from coderelay.agents.guide.replies import GuideReplies
    from coderelay.agents.guide.tool_call_scripts import Proposal, arguments_json, replay

    assert state.turn is not None
    started = state.turn.started
    words = GuideReplies(started.text, other_agents)
    if started.task == "compact":
        return words.say("nothing_to_compact")
    messages = [each for each in state.history if isinstance(each, MessageAdded) and each.turn_id == started.turn_id]
    calls = [state.calls[call.id] for message in messages for call in message.calls]
    step = replay(script_for(started.text, words), calls)
    if isinstance(step, Proposal):
        return Call(CallId(f"call_{new_id()}"), step.tool, arguments_json(step))
    return words.say("another_version") if step is None else step
