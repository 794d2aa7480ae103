"""The settings of a session that an editor offers to choose: mode, model, and how much the model thinks."""

from typing import get_args

from coderelay.acp.update_payloads import Fields
from coderelay.client.client import Client
from coderelay.client.i18n import localize, t
from coderelay.client.typed_model_name import agent_for
from coderelay.protocol.asks import By
from coderelay.protocol.commands import ConfigureSession
from coderelay.protocol.errors import BadInput, CannotRun
from coderelay.protocol.events import SessionConfigured
from coderelay.protocol.modes import MODE_NAMES, MODES
from coderelay.protocol.projected_rows import Summary
from coderelay.protocol.queries import ListModels, WhyNotRun
from coderelay.protocol.query_results import ModelShown
from coderelay.protocol.session_setting_values import Mode, Think
from coderelay.protocol.text_escaping_and_width import visible

_LEVELS: dict[str, Think] = {each: each for each in get_args(Think)}


class ConfigOptions:
    """The settings as they hold from the next turn on. `max_mode` is the freest mode that an editor may choose."""

    def __init__(self, client: Client, by: By, summary: Summary, max_mode: Mode) -> None:
        pending = summary.pending
        self._client = client
        self._by = by
        self._session = summary.id
        self._max_mode: Mode = max_mode
        self._models: list[ModelShown] = []
        self.mode: Mode = (pending and pending.mode) or summary.mode
        self._agent = (pending and pending.agent) or summary.agent
        self._model = (pending and pending.model) or summary.model
        self._think: Think = (pending and pending.think) or summary.think

    @property
    def modes(self) -> Fields:
        """The modes, for editors that do not know config options."""
        return {
            "currentModeId": self.mode,
            "availableModes": [{"id": each.pop("value"), **each} for each in self._modes],
        }

    @property
    def fields(self) -> list[Fields]:
        levels = [{"value": each, "name": each} for each in _LEVELS]
        return [
            _option("mode", t("Mode"), "mode", self.mode, self._modes),
            _option("model", t("Model"), "model", self._model, self._model_choices),
            _option("think", t("Thinking"), "thought_level", self._think, levels),
        ]

    @property
    def update(self) -> Fields:
        return {"sessionUpdate": "config_option_update", "configOptions": self.fields}

    @property
    def _choices(self) -> list[Mode]:
        """The modes up to the freest that the editor may choose, and the one that the session has already."""
        names = list(MODE_NAMES[: MODE_NAMES.index(self._max_mode) + 1])
        return names if self.mode in names else [*names, self.mode]

    @property
    def _modes(self) -> list[Fields]:
        offered = [each for each in MODES if each.name in self._choices]
        return [{"value": each.name, "name": each.name, "description": localize(each.text)} for each in offered]

    @property
    def _model_choices(self) -> list[Fields]:
        names = {each.name: each.source for each in self._models}
        return [
            {"value": name, "name": visible(name), **({"description": visible(source)} if source else {})}
            for name, source in ({self._model: ""} | names).items()
        ]

    async def find_models(self) -> None:
        """Look for the models that can be chosen, which may take a moment."""
        self._models = await self._client.get(ListModels(self._session))

    async def choose(self, option: str, value: str) -> None:
        """Change a setting from the next turn on. Raises a Refusal."""
        match option:
            case "mode":
                change = self._mode_change(value)
            case "model":
                change = await self._model_change(value)
            case "think":
                change = self._think_change(value)
            case _:
                raise BadInput(t("there is no option {name}", name=repr(option)))
        await self._client.send(change)
        self.take(change)

    def _mode_change(self, mode: str) -> ConfigureSession:
        names = self._choices
        if mode not in names:
            hint = t("`acp.max_mode` in your configuration allows more.") if mode in MODE_NAMES else ""
            raise BadInput(t("the mode must be one of: {names}", names=", ".join(names)), hint)
        chosen: Mode = names[names.index(mode)]
        return ConfigureSession(session=self._session, by=self._by, mode=chosen, when="next_turn")

    async def _model_change(self, model: str) -> ConfigureSession:
        agent = agent_for(model, self._agent)
        if (
            problem := await self._client.get(WhyNotRun(session=self._session, model=model, agent=agent))
        ) is not None:
            raise CannotRun(problem)
        return ConfigureSession(session=self._session, by=self._by, model=model, agent=agent, when="next_turn")

    def _think_change(self, level: str) -> ConfigureSession:
        chosen = _LEVELS.get(level)
        if chosen is None:
            names = ", ".join(_LEVELS)
            raise BadInput(t("unknown level {name}; choose one of {names}", name=repr(level), names=names))
        return ConfigureSession(session=self._session, by=self._by, think=chosen, when="next_turn")

    def take(self, event: SessionConfigured | ConfigureSession) -> bool:
        """Note a change of the session. Returns whether it is one of these settings."""
        self.mode = event.mode or self.mode
        self._agent = event.agent or self._agent
        self._model = event.model or self._model
        self._think = event.think or self._think
        return any((event.mode, event.model, event.think))


def _option(key: str, name: str, category: str, value: str, choices: list[Fields]) -> Fields:
    return {
        "id": key,
        "name": name,
        "category": category,
        "type": "select",
        "currentValue": value,
        "options": choices,
    }
