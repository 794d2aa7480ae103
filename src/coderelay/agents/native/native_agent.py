"""The native agent's main loop: ask the model and run the calls it proposes, until it proposes none."""

from collections.abc import Callable
from contextlib import aclosing

from coderelay.agents.agent import Description
from coderelay.agents.native.native_settings import NativeSettings
from coderelay.agents.native.prompt.system_prompt import system_prompt
from coderelay.agents.native.turn_steps import TurnSteps
from coderelay.agents.native.turn_toolbox import ExtraToolsOf, TurnToolbox, wants_more
from coderelay.agents.turn import Turn
from coderelay.models.model import Completion, Model, Models, Request
from coderelay.protocol.errors import BadInput, ModelFailed
from coderelay.protocol.ids import SessionId
from coderelay.protocol.message_content import text_of
from coderelay.session.model_messages import UserMessage
from coderelay.session.next_action import AskModel, CheckWork, Compact, RunCall
from coderelay.session.state import SessionSettings
from coderelay.tools.toolbox import Toolbox
from coderelay.workspace.workspace import Workspace

_TITLER = """\
Give a title of at most six words to a coding session that begins with the request below. In the language of the \
request. Answer with the title alone, without quotes."""
_READ = 4000
_MOST = 80


class NativeAgent:
    name = "native"
    runs_own_loop = False
    has_own_session_ids = False
    stores_raw_messages = False

    def __init__(
        self,
        models: Callable[[str], Models],
        toolbox: Toolbox,
        open_workspace: Callable[[Turn], Workspace],
        settings: Callable[[str], NativeSettings],
        more_tools: ExtraToolsOf,
    ) -> None:
        """`models` and `settings` take a folder, and raise BadInput if the folder's configuration is invalid."""
        self._models = models
        self._toolbox = toolbox
        self._open_workspace = open_workspace
        self._settings = settings
        self._more_tools = more_tools
        self._told: set[tuple[SessionId, str]] = set()

    def cannot_run(self, settings: SessionSettings) -> str | None:
        try:
            return self._models(settings.cwd).why_not(settings.model)
        except BadInput as refused:
            return str(refused)

    def describe(self, settings: SessionSettings) -> Description:
        own = self._settings(settings.cwd)
        card = self._models(settings.cwd).card(settings.model)
        more = self._more_tools(settings.cwd, None) if wants_more(settings) else None
        toolbox = self._tools_of(settings).plus(own.tools)
        toolbox = toolbox.plus(more.tools) if more is not None else toolbox
        enabled = toolbox.without(own.disabled_tools)
        disabled = tuple(spec for spec in toolbox.specs if not enabled.has(spec.name))
        system = system_prompt(small=card.is_small, child=settings.parent is not None)
        return Description(system, enabled.specs, disabled, card.context)

    def _tools_of(self, settings: SessionSettings) -> Toolbox:
        """A named subagent is not offered tools outside of its list. In other sessions all tools are offered and
        calls of tools outside of the list are denied, because the list may change, and a request must begin like the
        one before (for the prompt cache)."""
        if settings.parent is None:
            return self._toolbox
        toolbox, allowed = self._toolbox.for_child(), settings.enforced_tools
        if not settings.instructions:
            return toolbox
        from coderelay.tools.builtin_tools import SPECS  # imported late: most sessions are no subagents

        return toolbox.without([each.name for each in toolbox.specs if not SPECS.is_allowed(each.name, allowed)])

    async def suggest_title(self, settings: SessionSettings, prompt: str) -> str:
        models = self._models(settings.cwd)
        return await title_for(models.open(models.cheap(settings.model)), prompt)

    async def run(self, turn: Turn) -> None:
        own = self._settings(turn.settings.cwd)
        workspace = self._open_workspace(turn)
        toolbox = self._tools_of(turn.settings).plus(own.tools).without(own.disabled_tools)
        tools = TurnToolbox(turn, toolbox, self._more_tools, own.disabled_tools, self._told)
        tools.tell(own.notes)
        steps = TurnSteps(turn, self._models(turn.settings.cwd), toolbox, workspace, own, tools)
        while True:
            match turn.next_action():
                case AskModel():
                    await steps.ask_model()
                case RunCall():
                    await steps.run_calls()
                case CheckWork():
                    await steps.check()
                case Compact():
                    await steps.compact()
                case _:
                    return

    async def close(self) -> None:
        return


async def title_for(model: Model, prompt: str) -> str:
    """Ask the model for a title of a session that begins with this prompt. Raises ModelFailed."""
    request = Request(_TITLER, [UserMessage(prompt[:_READ])], think="off")
    async with aclosing(model.stream(request)) as pieces:
        async for piece in pieces:
            if isinstance(piece, Completion):
                words = text_of(piece.blocks).strip().strip("\"'“”「」《》").split()
                if words:
                    return " ".join(words)[:_MOST]
    raise ModelFailed("the model gave no title")
