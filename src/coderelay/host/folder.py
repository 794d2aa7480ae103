"""One folder in which sessions work: everything that is configured there, in one object."""

import os
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct

from coderelay.client.tool_specs import tool_specs
from coderelay.config.load import Config, CurrentConfig
from coderelay.config.paths import text_folders
from coderelay.config.settings import Settings
from coderelay.policy.judge import Policy, judge
from coderelay.policy.rules import Rule, Rules, is_about_paths, read_rules
from coderelay.policy.secrets.masking import Secrets, worth_hiding
from coderelay.protocol.calls import Need
from coderelay.protocol.events import Mode
from coderelay.protocol.session_info import SkillsShown
from coderelay.workspace.processes.processes import Processes

if TYPE_CHECKING:
    from coderelay.config.texts.texts import FolderTexts
    from coderelay.host.hooks.hooks import Hooks


class Folder(Struct, frozen=True, dict=True):
    """What holds for the sessions of one folder. It never changes: when a file of the configuration does, the folder
    gets another one. Use it for one step and ask `Folders` again for the next."""

    path: str
    config: Config
    env: Mapping[str, str]
    processes: Processes
    secrets: Secrets

    @property
    def settings(self) -> Settings:
        return self.config.settings

    @cached_property
    def rules(self) -> Rules:
        """Raises BadInput if one cannot be read."""
        written = self.settings.permissions
        return read_rules(tool_specs(), written.allow, written.ask, written.deny)

    @property
    def person_home(self) -> str:
        """What `~/` means in rules."""
        return os.path.expanduser("~")

    @property
    def skills_run(self) -> bool:
        """Whether nobody is asked while a skill that the agent chose is in use."""
        return self.settings.skills.auto_approve == "run"

    def hidden(self, paths: Iterable[str], mode: Mode, folders: tuple[str, ...]) -> set[str]:
        """Those of these files that may not be read unasked, whatever else a call of a tool does."""

        def on_paths(rules: Iterable[Rule]) -> tuple[Rule, ...]:
            return tuple(rule for rule in rules if is_about_paths(rule, "read"))

        rules = Rules(on_paths(self.rules.allow), on_paths(self.rules.ask), on_paths(self.rules.deny))
        policy = Policy(mode, rules=rules, folders=folders, home=self.person_home)
        needs = [Need(tool="grep", kind="read", title="", paths=(path,)) for path in paths]
        verdicts = judge(needs, policy)
        return {need.paths[0] for need, each in zip(needs, verdicts, strict=True) if each.verdict != "allow"}

    @property
    def sandbox(self) -> str:
        """What commands run in here. The first to ask may have to wait until it has been tried."""
        if not self.settings.sandbox.enabled:
            return "none"
        from coderelay.workspace.sandbox.detect import rung_here  # with the first command

        return rung_here(self.config.home)

    @cached_property
    def hooks(self) -> "Hooks | None":
        """None where there are none, as most people have none: then nothing is loaded for them."""
        if not self.settings.hooks:
            return None
        from coderelay.host.hooks.hook import hooks_of
        from coderelay.host.hooks.hooks import HookProcesses, Hooks

        return Hooks(hooks_of(self.settings.hooks), HookProcesses(self.processes, self.env).run, self.secrets)


class Folders:
    """Each folder as its configuration stands now."""

    def __init__(
        self, configs: CurrentConfig, env: Mapping[str, str], processes: Processes, secrets: Secrets
    ) -> None:
        self._configs = configs
        self._env = env
        self._processes = processes
        self._secrets = secrets
        self._known: dict[str, Folder] = {}

    def of(self, path: str) -> Folder:
        """The same object until its configuration changes. Raises BadInput if what is written there is wrong."""
        config = self._configs.of(path)
        known = self._known.get(path)
        if known is None or known.config is not config:
            known = self._known[path] = Folder(path, config, self._env, self._processes, self._secrets)
            self._secrets.add(worth_hiding(self._keys(config.settings)))
        return known

    def texts(self, path: str) -> "FolderTexts":
        """Skills and custom commands there, which are looked for anew each time and need no configuration."""
        from coderelay.config.texts.texts import FolderTexts  # when people look, or an agent chooses a skill

        return FolderTexts(home=self._configs.home, user_home=self._user_home, folder=path, taken=_built_in_commands)

    def skills(self, path: str) -> SkillsShown:
        """Those that an agent may choose. Where there are none, as most people have none, nothing is loaded."""
        theirs, own = text_folders("skills", home=self._configs.home, user_home=self._user_home, folder=path)
        if not any(map(os.path.isdir, (*theirs, *own))):
            return SkillsShown()
        shown = self.texts(path).skills()
        return SkillsShown(tuple(each for each in shown.found if not each.by_name_only), shown.notes)

    @property
    def _user_home(self) -> str:
        return self._env.get("HOME", "")

    def _keys(self, settings: Settings) -> list[str]:
        """The values of the variables that are configured to hold keys, whatever they are called."""
        feishu = settings.feishu
        variables = [feishu.app_secret_env, feishu.encrypt_key_env, feishu.verification_token_env]
        variables += [each.api_key_env for each in settings.providers.values()]
        return [self._env[name] for name in variables if name is not None and name in self._env]


def _built_in_commands() -> frozenset[str]:
    """Loaded where a person has commands of their own: the records of ours bring their functions along."""
    from coderelay.client.slash_commands import NAMES

    return NAMES
