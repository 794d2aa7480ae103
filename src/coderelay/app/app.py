"""`App` builds the parts of a process: store, agents, tools, models, host."""

import logging
import os
import time
from collections.abc import Callable, Collection, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from coderelay.agents.agent import Agent
from coderelay.agents.guide.guide_agent import GuideAgent
from coderelay.agents.native.compaction import CompactionSettings
from coderelay.agents.native.model_request_with_retries import FIRST_SECONDS
from coderelay.agents.native.native_agent import NativeAgent
from coderelay.agents.native.native_settings import NativeSettings, VerificationSettings, WorkflowSettings
from coderelay.app.configured_and_lent_mcp_servers import ConfiguredAndLentServers
from coderelay.app.machine_query_sources import ThisMachine
from coderelay.client.views.cowork_messages import SessionRows
from coderelay.config.detect.other_agents_and_their_settings import agents_on_path
from coderelay.config.loaded_config import Config, CurrentConfig, language_of
from coderelay.config.settings import AgentConfig, Settings
from coderelay.host.cross_process_live_relay import LiveRelay
from coderelay.host.folder_config import FolderConfigs
from coderelay.host.host import Host
from coderelay.host.host_context import HostContext
from coderelay.host.loaded_session_cache import LoadedSessionCache
from coderelay.host.machine_interface import Servers
from coderelay.host.resources_lent_by_clients import ResourcesLentByClients
from coderelay.host.session_ownership import SessionOwnership
from coderelay.host.turn_snapshots_interface import TurnSnapshots
from coderelay.host.turn_workspace_and_sandbox import Workspaces
from coderelay.models.model import Models
from coderelay.models.model_registry import ModelRegistry
from coderelay.policy.secrets.masking import Secrets
from coderelay.policy.secrets.secret_value_recognition import distinctive_values, passwords_in, secret_values
from coderelay.protocol.ids import OwnerId, new_id
from coderelay.session.state import State
from coderelay.store.live_output_database import LiveOutputDatabase
from coderelay.store.open_store import open_owners, open_store
from coderelay.store.sqlite.busy_retry_and_lock_holder import when_unlocked
from coderelay.store.store import Store
from coderelay.tools.bash import Bash, BashLimits
from coderelay.tools.builtin_tools import TOOLS
from coderelay.tools.skill import SkillTool
from coderelay.tools.tool import Tool
from coderelay.tools.toolbox import Toolbox
from coderelay.tools.web_fetch import Fetch, WebFetch
from coderelay.workspace.processes.command_runner import Processes

if TYPE_CHECKING:
    from coderelay.agents.native.turn_toolbox import ExtraTools

_SHORT_RUN_SECONDS = 0.3
_OPEN_SECONDS = 0.1

log = logging.getLogger(__name__)


class App:
    """Builds everything a process needs, from the store up. Each part that a test may replace has a method of its
    own."""

    def __init__(self, config: Config, env: Mapping[str, str] = os.environ) -> None:
        self.config = config
        self.env = env
        self.processes = Processes()
        self.secrets = Secrets([*secret_values(env), *distinctive_values(passwords_in(config.database_url or ""))])
        configs = CurrentConfig(config, env, self._folders_in_use)
        self.folders = FolderConfigs(configs, env, self.processes, self.secrets)
        self.mcp = ConfiguredAndLentServers(env, self.folders, self.processes, self.secrets)
        self.lending = ResourcesLentByClients(
            self.mcp.describe, self.mcp.end_lent, lambda session: self.sessions.known_state(session)
        )
        self.workspaces = Workspaces(config.home, env, self.folders, self.processes, self.lending)
        self._providers: list[tuple[object, ModelRegistry]] = []
        self.tell: Callable[[str], None] = log.warning
        """Tells people that this process waits for a locked log. A surface replaces it with its own output."""

    def store(self) -> Store:
        path, url = self.config.database, self.config.database_url
        return open_store(path, url, SessionRows(), open_seconds=_OPEN_SECONDS, tell=lambda text: self.tell(text))

    @cached_property
    def sessions(self) -> LoadedSessionCache:
        """Raises StoreFailed if the log cannot be used."""
        return LoadedSessionCache(self.store(), self.workspaces.release)

    def _folders_in_use(self) -> Collection[str]:
        sessions: LoadedSessionCache | None = vars(self).get("sessions")  # None until the log is opened
        return () if sessions is None else sessions.folders()

    def takeover(self) -> SessionOwnership:
        return SessionOwnership(open_owners(self.config.owners, self.config.database_url))

    def live_relay(self) -> LiveRelay:
        process = OwnerId(new_id())
        return LiveRelay(
            LiveOutputDatabase(self.config.live, process), starts_at=time.monotonic() + _SHORT_RUN_SECONDS
        )

    def tools(self) -> list[Tool[Any]]:
        """All tools except `skill`, which is added only in folders that have skills."""
        lent: dict[type[Tool[Any]], Callable[[], Tool[Any]]] = {
            Bash: partial(Bash, self.bash_limits),
            WebFetch: partial(WebFetch, self.page_fetch),
        }
        return [lent.get(each, each)() for each in TOOLS if each is not SkillTool]

    def bash_limits(self, cwd: str) -> BashLimits:
        settings = self.folders.of(cwd).settings.bash
        return BashLimits(settings.timeout_s, settings.output_bytes, settings.free_bytes)

    def page_fetch(self) -> Fetch:
        from coderelay.http.web_page_client import PageClient  # loaded when the first page is fetched
        from coderelay.tools.web.page_fetch import PageFetch

        return PageFetch(PageClient(self.env))

    def toolbox(self) -> Toolbox:
        return Toolbox(self.tools())

    def native_agent(self) -> NativeAgent:
        return NativeAgent(self.models, self.toolbox(), self.workspaces.open, self.native_settings, self.extra_tools)

    def native_settings(self, cwd: str) -> NativeSettings:
        """The native agent's settings for a folder. Raises BadInput if the folder's configuration is invalid."""
        settings = self.folders.of(cwd).settings
        skills = self.folders.skills(cwd)
        return NativeSettings(
            home=self.config.home,
            disabled_tools=(*settings.tools.disabled, *settings.agents.get("native", AgentConfig()).tools.disabled),
            compaction=CompactionSettings(settings.compaction.threshold, settings.compaction.keep),
            retry_seconds=float(self.env.get("CODER_RETRY_SECONDS") or FIRST_SECONDS),
            secrets=self.secrets,
            workflow=self.workflow_settings(settings),
            skills=skills.found,
            subagents=self.folders.subagents(cwd).found,
            tools=(self.skill_tool(),) if skills.found else (),
            notes=("some skills are not used; /skills says why",) if skills.notes else (),
        )

    def workflow_settings(self, settings: Settings) -> WorkflowSettings:
        wanted = settings.workflow
        verification = VerificationSettings(
            wanted.auto_verify_after_edit, wanted.max_verify_attempts, wanted.verify_commands
        )
        # The workflow has texts in these two languages only.
        language = "zh" if language_of(self.env, settings) == "zh" else "en"
        return WorkflowSettings(wanted.require_todo_for_complex, verification, language)

    def skill_tool(self) -> Tool[Any]:
        return SkillTool(lambda cwd, name: self.folders.texts(cwd).load_skill(name))

    def models(self, cwd: str) -> Models:
        return self.providers(cwd)

    def providers(self, cwd: str) -> ModelRegistry:
        """The providers for a folder. Folders with equal provider settings share one object, and so its
        connections."""
        wanted = self.folders.of(cwd).settings.providers
        for settings, providers in self._providers:
            if settings == wanted:
                return providers
        providers = ModelRegistry(self.env, wanted)
        self._providers.append((wanted, providers))
        return providers

    def turn_files(self) -> TurnSnapshots:
        from coderelay.host.git_turn_snapshots import (
            GitTurnFiles,  # loaded with the first change of a file: most turns make none
        )
        from coderelay.workspace.trees.snapshots import SnapshotTaker

        return GitTurnFiles(SnapshotTaker(self.config.home, self.env))

    def extra_tools(self, cwd: str, state: State | None) -> "ExtraTools | None":
        """The tools of MCP servers."""
        return self.mcp.tools(cwd, state, {} if state is None else self.lending.servers(state))

    def guide(self) -> GuideAgent:
        return GuideAgent(self.toolbox(), self.workspaces.open, partial(agents_on_path, self.env))

    def agents(self) -> list[Agent]:
        return [self.native_agent(), self.guide()]

    def machine(self) -> ThisMachine:
        return ThisMachine(self.config, self.env, self.folders, self.providers, self.servers)

    def servers(self, cwd: str, state: State) -> Servers:
        return self.mcp.servers(cwd, state, self.lending.servers(state))

    async def open_patiently(self) -> Host:
        """Like `open`, but if another process has locked the log, wait for it without blocking the event loop."""
        return await when_unlocked(self.open, self.config.database, _OPEN_SECONDS, lambda text: self.tell(text))

    def open(self) -> Host:
        """Open the store and build the Host. Raises StoreFailed if the log cannot be used."""
        context = HostContext(
            sessions=self.sessions,
            takeover=self.takeover(),
            live_relay=self.live_relay(),
            agents={each.name: each for each in self.agents()},
            folders=self.folders,
            processes=self.processes,
            secrets=self.secrets,
            turn_files=self.turn_files,
            machine=self.machine(),
            lending=self.lending,
        )
        return Host(context)

    async def close(self, host: Host) -> None:
        await host.close()
        for _, providers in self._providers:
            await providers.close()
        await self.mcp.close()
        await self.processes.close()
        await self.workspaces.close()
