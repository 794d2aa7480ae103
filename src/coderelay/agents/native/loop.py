"""The loop: ask the model, run what it proposes, until it proposes nothing more."""

from collections.abc import Callable

from coderelay.agents.agent import Description, Turn
from coderelay.agents.native.prompt.system import system_prompt
from coderelay.agents.native.step import NativeSettings, Steps
from coderelay.agents.native.title import title_for
from coderelay.models.model import Models
from coderelay.protocol.errors import BadInput
from coderelay.session.next_action import AskModel, Compact, RunCall
from coderelay.session.state import Settings
from coderelay.tools.toolbox import Toolbox
from coderelay.workspace.workspace import Workspace


class NativeAgent:
    name = "native"

    def __init__(
        self,
        models: Callable[[str], Models],
        toolbox: Toolbox,
        open_workspace: Callable[[Turn], Workspace],
        settings: Callable[[str], NativeSettings],
    ) -> None:
        """`models` and `settings` go by the folder, and raise BadInput if what is written there is wrong."""
        self._models = models
        self._toolbox = toolbox
        self._open_workspace = open_workspace
        self._settings = settings

    def cannot_run(self, settings: Settings) -> str | None:
        try:
            return self._models(settings.cwd).why_not(settings.model)
        except BadInput as refused:
            return str(refused)

    def describe(self, settings: Settings) -> Description:
        own = self._settings(settings.cwd)
        system = system_prompt(self._models(settings.cwd).card(settings.model).context)
        return Description(system, self._toolbox.without(own.disabled_tools).specs)

    async def suggest_title(self, settings: Settings, prompt: str) -> str:
        models = self._models(settings.cwd)
        return await title_for(models.open(models.cheap(settings.model)), prompt)

    async def run(self, turn: Turn) -> None:
        own = self._settings(turn.settings.cwd)
        workspace = self._open_workspace(turn)
        steps = Steps(
            turn, self._models(turn.settings.cwd), self._toolbox.without(own.disabled_tools), workspace, own
        )
        while True:
            match turn.next_action():
                case AskModel():
                    await steps.ask_model()
                case RunCall():
                    await steps.run_calls()
                case Compact():
                    await steps.compact()
                case _:
                    return

    async def close(self) -> None:
        return
