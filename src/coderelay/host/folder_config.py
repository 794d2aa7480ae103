"""A folder in which sessions work, with its configuration: settings, permission rules, hooks, skills."""

import os
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from coderelay.client.builtin_tool_specs_loader import tool_specs
from coderelay.config.config_paths import text_folders
from coderelay.config.folder_cache import FolderCache
from coderelay.config.loaded_config import Config, CurrentConfig
from coderelay.config.settings import Settings
from coderelay.policy.judge import Policy, judge
from coderelay.policy.rules import Rule, Rules, is_about_paths, read_rules
from coderelay.policy.secrets.masking import Secrets
from coderelay.policy.secrets.secret_value_recognition import distinctive_values
from coderelay.protocol.calls import Need
from coderelay.protocol.errors import BadInput
from coderelay.protocol.query_results import SettingShown, SkillsShown, SubagentsShown, TrustShown
from coderelay.protocol.session_setting_values import Mode
from coderelay.protocol.translatable import say
from coderelay.workspace.processes.command_runner import Processes

if TYPE_CHECKING:
    from coderelay.config.skills_and_commands.skill_and_command_lookup import SkillAndCommandLookup
    from coderelay.host.hooks.hooks import Hooks


class FolderConfig(Struct, frozen=True, dict=True):
    """The configuration that applies to the sessions of one folder. The object never changes: when a configuration
    file does, the folder gets a new one. Use it for one step, and ask `FolderConfigs` again for the next."""

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
        """The permission rules. Raises BadInput if one cannot be read."""
        written = self.settings.permissions
        return read_rules(tool_specs(), written.allow, written.ask, written.deny)

    @property
    def person_home(self) -> str:
        """The home directory that `~/` stands for in rules."""
        return os.path.expanduser("~")

    @property
    def skills_run(self) -> bool:
        """Whether calls run without asking while a skill that the agent chose is in use."""
        return self.settings.skills.auto_approve == "run"

    def hidden(self, paths: Iterable[str], mode: Mode, folders: tuple[str, ...]) -> set[str]:
        """Those of these files that may not be read without asking, whatever else a tool call does."""

        def on_paths(rules: Iterable[Rule]) -> tuple[Rule, ...]:
            return tuple(rule for rule in rules if is_about_paths(rule, "read"))

        rules = Rules(on_paths(self.rules.allow), on_paths(self.rules.ask), on_paths(self.rules.deny))
        policy = Policy(mode, tool_specs(), rules=rules, folders=folders, home=self.person_home)
        needs = [Need(tool="grep", kind="read", title="", paths=(path,)) for path in paths]
        verdicts = judge(needs, policy)
        return {need.paths[0] for need, each in zip(needs, verdicts, strict=True) if each.verdict != "allow"}

    @property
    def sandbox(self) -> str:
        """The kind of sandbox for commands here. The first caller may have to wait while it is tried out."""
        if not self.settings.sandbox.enabled:
            return "none"
        from coderelay.workspace.sandbox.backend_detection import (
            sandbox_backend,  # imported late, with the first command
        )

        return sandbox_backend(self.config.home)

    @cached_property
    def hooks(self) -> "Hooks | None":
        """The hooks of the folder. None if there are none, as for most people: then no code for them is loaded."""
        if not self.settings.hooks:
            return None
        from coderelay.host.hooks.configured_hook import hooks_of
        from coderelay.host.hooks.hooks import HookProcesses, Hooks

        return Hooks(hooks_of(self.settings.hooks), HookProcesses(self.processes, self.env).run, self.secrets)


class FolderConfigs:
    """Looks up folders, each with its current configuration."""

    def __init__(
        self, configs: CurrentConfig, env: Mapping[str, str], processes: Processes, secrets: Secrets
    ) -> None:
        self._configs = configs
        self._env = env
        self._processes = processes
        self._secrets = secrets
        self._known = FolderCache[FolderConfig](configs.used)

    def __len__(self) -> int:
        return len(self._known)

    def of(self, path: str) -> FolderConfig:
        """The folder at this path: the same object until its configuration changes. Raises BadInput if the
        configuration is wrong."""
        config = self._configs.of(path)
        known = self._known.get(path)
        if known is None or known.config is not config:
            made = FolderConfig(path, config, self._env, self._processes, self._secrets)
            known = self._known.put(path, made)
            self._secrets.add(distinctive_values(self._keys(config.settings)))
        return known

    def texts(self, path: str) -> "SkillAndCommandLookup":
        """The skills and custom commands of a folder. They are searched for anew each time and need no
        configuration."""
        from coderelay.config.skills_and_commands.skill_and_command_lookup import (
            SkillAndCommandLookup,  # imported late, for lists of skills and commands
        )

        return SkillAndCommandLookup(
            home=self._configs.home, user_home=self._user_home, folder=path, taken=_built_in_commands
        )

    def skills(self, path: str) -> SkillsShown:
        """The skills that an agent may choose. If there are none, as for most people, no code for them is loaded."""
        theirs, own = text_folders("skills", home=self._configs.home, user_home=self._user_home, folder=path)
        if not any(map(os.path.isdir, (*theirs, *own))):
            return SkillsShown()
        shown = self.texts(path).skills()
        return replace(shown, found=tuple(each for each in shown.found if not each.by_name_only))

    def subagents(self, path: str) -> SubagentsShown:
        """The subagents that a task can be given to by name. If there are none, as for most people, no code for them
        is loaded."""
        theirs, own = text_folders("agents", home=self._configs.home, user_home=self._user_home, folder=path)
        return self.texts(path).subagents() if any(map(os.path.isdir, (*theirs, *own))) else SubagentsShown()

    def settings_shown(self, path: str) -> list[SettingShown]:
        """The settings that hold in a folder. Raises BadInput if its configuration is wrong."""
        from coderelay.config.effective_settings_list import (
            settings_in_force,  # imported late: only people ask for this
        )

        return settings_in_force(self._configs.of(path), self._env)

    def set_key(self, key: str, value: str | None) -> None:
        """Set a key in the person's file, to a value as JSON. Raises BadInput, also if an agent started this
        process."""
        from coderelay.config.edit_config import set_key

        self._refuse_agents()
        try:
            decoded = None if value is None else msgspec.json.decode(value)
        except msgspec.DecodeError as error:
            raise BadInput(say("the value is not JSON: {why}", why=error)) from error
        set_key(self._configs.home, key, decoded)

    def _refuse_agents(self) -> None:
        if self._env.get("CODER"):
            raise BadInput("a command that an agent runs cannot change your settings or trust a folder")

    def untrusted_names(self, path: str) -> dict[str, tuple[str, ...]]:
        """The names of the folder's texts that the person does not trust, by their kind. Where a folder has no texts,
        as most have none, no code for them is loaded."""
        kinds = [
            kind
            for kind in ("commands", "skills", "agents")
            if any(map(os.path.isdir, text_folders(kind, home="", user_home="", folder=path)[0]))
        ]
        return {} if not kinds else self.texts(path).untrusted()

    def untrusted(self, path: str) -> TrustShown:
        """What the person would trust in a folder. Raises BadInput if its configuration is wrong."""
        from coderelay.config.trust_review import review_folder  # imported late: people do this once in a folder

        return review_folder(self._configs.home, self._user_home, path).shown

    def trust(self, path: str, digest: str) -> bool:
        """Trust what `untrusted` has shown with this digest. Returns whether there was anything. Raises BadInput if
        it has changed, or if an agent started this process: only a person may agree."""
        from coderelay.config.trust_review import trust_reviewed

        self._refuse_agents()
        return trust_reviewed(self._configs.home, self._user_home, path, digest)

    @property
    def _user_home(self) -> str:
        return self._env.get("HOME", "")

    def _keys(self, settings: Settings) -> list[str]:
        """The values of the environment variables that are configured to hold keys, whatever their names."""
        feishu = settings.feishu
        variables = [feishu.app_secret_env, feishu.encrypt_key_env, feishu.verification_token_env]
        variables += [each.api_key_env for each in settings.providers.values() if each.api_key_env is not None]
        return [self._env[name] for name in variables if name in self._env]


def _built_in_commands() -> frozenset[str]:
    """The names of the built-in slash commands. Loaded only for a person with custom commands, because the table of
    the built-in ones imports their functions too."""
    from coderelay.client.slash_commands import NAMES

    return NAMES
