"""Wiring: the only file that knows concrete parts."""

import asyncio
import logging
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from coderelay.agents.agent import Turn
from coderelay.agents.guide.guide import GuideAgent
from coderelay.agents.native.compaction import CompactionSettings
from coderelay.agents.native.loop import NativeAgent
from coderelay.agents.native.step import NativeSettings
from coderelay.agents.native.workflow.settings import VerificationSettings, WorkflowSettings
from coderelay.client.views import cowork
from coderelay.config.detect_agents import agents_on_path
from coderelay.config.load import Config, config_marks, language_of, load
from coderelay.config.place import text_folders
from coderelay.config.settings import Settings
from coderelay.host.exchange import Exchange
from coderelay.host.host import Host
from coderelay.host.judging import FolderPolicy
from coderelay.host.ownership import Ownership
from coderelay.host.servers import NoServers, Servers
from coderelay.host.spending import Budget, Limits
from coderelay.host.turn_files import TurnFiles
from coderelay.host.worker import Runner
from coderelay.models.http.address import without_user
from coderelay.models.model import Models
from coderelay.models.providers import Providers
from coderelay.models.retry import FIRST_SECONDS
from coderelay.policy.rules import read_rules
from coderelay.policy.secrets import Secrets, passwords_in, secret_values, worth_hiding
from coderelay.protocol.errors import BadInput, StoreFailed, StoreLocked
from coderelay.protocol.events import Recorded
from coderelay.protocol.ids import OwnerId, new_id
from coderelay.protocol.overview import FilesShown, ModelShown, SkillsShown
from coderelay.protocol.summary import MessageRow, Summary
from coderelay.session.summary import summarise
from coderelay.store.live import LiveFile
from coderelay.store.lock_holder import TELL_SECONDS, waiting_words
from coderelay.store.owners import FileOwners
from coderelay.store.sqlite import SqliteStore
from coderelay.store.store import Projection, Store
from coderelay.tools.ask_user import AskUser
from coderelay.tools.bash import Bash, BashLimits
from coderelay.tools.bash_output import BashOutput
from coderelay.tools.bash_stop import BashStop
from coderelay.tools.edit import Edit
from coderelay.tools.glob import GlobFiles
from coderelay.tools.grep import Grep
from coderelay.tools.list_files import ListFiles
from coderelay.tools.patch import Patch
from coderelay.tools.plan_exit import PlanExit
from coderelay.tools.read import Read
from coderelay.tools.task import Task
from coderelay.tools.todo import Todo
from coderelay.tools.tool import Tool
from coderelay.tools.toolbox import Toolbox
from coderelay.tools.web_fetch import Fetch, WebFetch
from coderelay.tools.write import Write
from coderelay.workspace.commands import Wanted
from coderelay.workspace.environment import command_environment, own_environment
from coderelay.workspace.processes import Processes
from coderelay.workspace.workspace import Workspace

if TYPE_CHECKING:
    from coderelay.config.texts import Texts
    from coderelay.host.hooks.hooks import Hooks
    from coderelay.tools.mcp.server import Limits as McpLimits
    from coderelay.tools.mcp.servers import McpServers
    from coderelay.workspace.sandbox.sandboxes import Sandboxes

_SHORT_RUN_SECONDS = 0.3
_ALWAYS_IN_SANDBOXES = {".lock", "rung.json"}
_OPEN_SECONDS = 0.1

log = logging.getLogger(__name__)


class Rows:
    """How the store's rows come from events."""

    def summary(self, row: Summary | None, recorded: Recorded) -> Summary | None:
        return summarise(row, recorded)

    def messages(self, recorded: Recorded) -> Sequence[MessageRow]:
        return cowork.rows(recorded)


def _postgres(module: str) -> Any:
    """Loaded only where a team's log is used: its driver is an extra."""
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        hint = "Install it with: pip install 'coderelay[postgres]'"
        raise StoreFailed(f"CODER_DATABASE_URL is set, but {error.name} is not installed", hint) from error


class House:
    """Everything a process needs, from the store up. Parts that a test replaces are built by a method each."""

    def __init__(self, config: Config, env: Mapping[str, str] = os.environ) -> None:
        self.config = config
        self.env = env
        self.processes = Processes()
        self._sandboxes: Sandboxes | None = None
        self._servers: dict[str, McpServers] = {}
        self.secrets = Secrets([*secret_values(env), *worth_hiding(passwords_in(config.database_url or ""))])
        self._settings: dict[str, tuple[object, Settings]] = {}
        self._providers: list[tuple[object, Providers]] = []
        self.tell: Callable[[str], None] = log.warning
        """How people are told that the log makes this process wait. A surface puts its own way here."""

    def store(self) -> Store:
        if self.config.database_url is None:
            return SqliteStore(
                self.config.database,
                self.projection(),
                open_seconds=_OPEN_SECONDS,
                tell=lambda text: self.tell(text),
            )
        postgres = _postgres("coderelay.store.postgres")
        return postgres.PostgresStore(self.config.database_url, self.projection())

    def projection(self) -> Projection:
        return Rows()

    def ownership(self) -> Ownership:
        if self.config.database_url is None:
            return Ownership(FileOwners(self.config.owners))
        postgres = _postgres("coderelay.store.postgres_owners")
        return Ownership(postgres.PostgresOwners(self.config.database_url))

    def exchange(self) -> Exchange:
        process = OwnerId(new_id())
        return Exchange(LiveFile(self.config.live, process), starts_at=time.monotonic() + _SHORT_RUN_SECONDS)

    def tools(self) -> list[Tool[Any]]:
        files: list[Tool[Any]] = [Read(), ListFiles(), GlobFiles(), Grep(), Write(), Edit(), Patch()]
        commands: list[Tool[Any]] = [Bash(self.bash_limits), BashOutput(), BashStop()]
        return [*files, *commands, Todo(), AskUser(), PlanExit(), Task(), WebFetch(self.page_fetch)]

    def bash_limits(self, cwd: str) -> BashLimits:
        settings = self.settings(cwd).bash
        return BashLimits(settings.timeout_s, settings.output_bytes, settings.free_bytes)

    def page_fetch(self) -> Fetch:
        """Loaded with the first page."""
        pages = import_module("coderelay.models.http.page").Pages(self.env)
        return import_module("coderelay.tools.page_fetch").PageFetch(pages)

    def toolbox(self) -> Toolbox:
        return Toolbox(self.tools())

    def native_agent(self) -> NativeAgent:
        return NativeAgent(self.models, self.toolbox(), self.workspace, self.native_settings, self.mcp_servers)

    def native_settings(self, cwd: str) -> NativeSettings:
        """Raises BadInput if what is written in that folder is wrong."""
        settings = self.settings(cwd)
        pause = self.env.get("CODER_RETRY_SECONDS")
        skills = self.skills(cwd)
        return NativeSettings(
            home=self.config.home,
            disabled_tools=settings.tools.disabled,
            compaction=CompactionSettings(settings.compaction.threshold, settings.compaction.keep),
            retry_seconds=float(pause) if pause else FIRST_SECONDS,
            secrets=self.secrets,
            workflow=self.workflow_settings(settings),
            skills=skills.found,
            tools=(import_module("coderelay.tools.skill").Skill(self.load_skill),) if skills.found else (),
            notes=("some skills are not used; /skills says why",) if skills.notes else (),
        )

    def workflow_settings(self, settings: Settings) -> WorkflowSettings:
        wanted = settings.workflow
        verification = VerificationSettings(
            wanted.auto_verify_after_edit, wanted.max_verify_attempts, wanted.verify_commands
        )
        return WorkflowSettings(wanted.require_todo_for_complex, verification, language_of(self.env, settings))

    def skills(self, cwd: str) -> SkillsShown:
        """Those that an agent may choose. Loaded where there are any: most people have none."""
        theirs, own = text_folders("skills", home=self.config.home, user_home=self.user_home, folder=cwd)
        if not any(map(os.path.isdir, (*theirs, *own))):
            return SkillsShown()
        shown = self.texts(cwd).skills()
        return SkillsShown(tuple(each for each in shown.found if not each.by_name_only), shown.notes)

    def load_skill(self, cwd: str, name: str) -> str:
        return self.texts(cwd).load_skill(name)

    def texts(self, cwd: str) -> "Texts":
        taken: Any = import_module("coderelay.client.built_in").NAMES
        made: Texts = import_module("coderelay.config.texts").Texts(
            home=self.config.home, user_home=self.user_home, folder=cwd, taken=taken
        )
        return made

    @property
    def user_home(self) -> str:
        return self.env.get("HOME", "")

    def limits(self, cwd: str) -> Limits:
        settings = self.settings(cwd)
        return Limits(settings.max_steps, Budget(settings.budget.session, settings.budget.day))

    def policy(self, cwd: str) -> FolderPolicy:
        settings = self.settings(cwd)
        written = settings.permissions
        rules = read_rules(written.allow, written.ask, written.deny)
        return FolderPolicy(
            written.preset,
            rules,
            os.path.expanduser("~"),
            settings.sandbox.network,
            skills_run=settings.skills.auto_approve == "run",
        )

    def sandbox(self, cwd: str) -> str:
        if not self.settings(cwd).sandbox.enabled:
            return "none"
        return import_module("coderelay.workspace.sandbox.ladder").rung_here(self.config.home)

    def settings(self, cwd: str) -> Settings:
        """What counts in a folder, as its files stand now: looked up at every step, read when they have changed."""
        marks = config_marks(self.config.home, cwd)
        known = self._settings.get(cwd)
        if known is None or known[0] != marks:
            known = self._settings[cwd] = (marks, load(self.env, cwd).settings)
            self.secrets.add(worth_hiding(self._keys(known[1])))
        return known[1]

    def _keys(self, settings: Settings) -> list[str]:
        """The values of the variables that are configured to hold keys, whatever they are called."""
        feishu = settings.feishu
        variables = [feishu.app_secret_env, feishu.encrypt_key_env, feishu.verification_token_env]
        variables += [each.api_key_env for each in settings.providers.values()]
        return [self.env[name] for name in variables if name is not None and name in self.env]

    def models(self, cwd: str) -> Models:
        return self.providers(cwd)

    def providers(self, cwd: str) -> Providers:
        """Sessions share connections unless their folders say different things of providers."""
        wanted = self.settings(cwd).providers
        for settings, providers in self._providers:
            if settings == wanted:
                return providers
        providers = Providers(self.env, wanted)
        self._providers.append((wanted, providers))
        return providers

    def turn_files(self) -> TurnFiles:
        """Loaded with the first change: most turns make none."""
        trees = import_module("coderelay.workspace.trees").Trees(self.config.home, self.env)
        return import_module("coderelay.host.undo").TurnTrees(trees)

    def workspace(self, turn: Turn) -> Workspace:
        def wanted() -> Wanted:
            written = self.settings(turn.settings.cwd).sandbox
            confined = written.enabled and (turn.settings.mode != "yolo" or written.yolo)
            return Wanted(confined=confined, network=written.network)

        def hidden(paths: Iterable[str]) -> set[str]:
            named = (turn.settings.cwd, *turn.settings.folders)
            folders = tuple(dict.fromkeys([*named, *map(os.path.realpath, named)]))
            return self.policy(turn.settings.cwd).hidden(paths, turn.settings.mode, folders)

        return Workspace(
            turn.settings.cwd,
            self.processes,
            command_environment(self.env),
            folders=turn.settings.folders,
            sandbox=lambda folders: self.sandboxes().open(turn.settings.parent or turn.session, folders),
            wanted=wanted,
            variables=turn.state.environment.variables if turn.state.environment is not None else None,
            hidden=hidden,
        )

    def sandboxes(self) -> "Sandboxes":
        """Loaded with the first command: most sessions begin without any."""
        if self._sandboxes is None:
            made: Sandboxes = import_module("coderelay.workspace.sandbox.sandboxes").Sandboxes(
                self.config.home, command_environment(self.env)
            )
            self._sandboxes = made
        return self._sandboxes

    def recover(self) -> list[str]:
        """What had to be mended in workspaces because a process was killed while its commands ran."""
        places = os.path.join(self.config.home, "sandboxes")
        if not os.path.isdir(places) or not {*os.listdir(places)} - _ALWAYS_IN_SANDBOXES:
            return []  # as nearly always: nothing has to be loaded to know that
        mended: list[str] = import_module("coderelay.workspace.sandbox.private").recover(self.config.home)
        return mended

    def mcp_servers(self, cwd: str, limits: "McpLimits | None" = None) -> "McpServers | None":
        """Shared by all sessions of a folder, as what is configured there stands now. Loaded where there are any."""
        wanted = self.settings(cwd).mcp_servers
        servers = self._servers.get(cwd)
        if servers is None and wanted:
            servers = self._servers[cwd] = self._new_servers(cwd, limits)
        if servers is not None and servers.settings != wanted:
            private: Any = import_module("coderelay.tools.mcp.settings").private_values
            for each in wanted.values():
                self.secrets.add(secret_values(private(each, self.env)))
            servers.configure(wanted)
        return servers

    def server_rows(self, cwd: str) -> Servers:
        servers = self.mcp_servers(cwd)
        return NoServers() if servers is None else import_module("coderelay.tools.mcp.rows").ServerRows(servers)

    def _new_servers(self, cwd: str, limits: "McpLimits | None") -> "McpServers":
        if limits is None and (seconds := self.env.get("CODER_MCP_SECONDS")):
            limits = import_module("coderelay.tools.mcp.server").Limits(patience=float(seconds))
        client: Any = import_module("coderelay.models.http.client").HttpClient
        return import_module("coderelay.tools.mcp.servers").McpServers(
            {},
            folders=[cwd],
            environment=command_environment(self.env),
            variables=self.env,
            processes=self.processes,
            open_http=partial(client, env=self.env),
            limits=limits,
        )

    def hooks(self, cwd: str) -> "Hooks | None":
        """Loaded where there are any: most people have none. Raises BadInput if what is written there is wrong."""
        written = self.settings(cwd).hooks
        if not written:
            return None
        processes: Any = import_module("coderelay.host.hooks.process")
        configured: Any = import_module("coderelay.host.hooks.configured")
        run = processes.HookProcesses(self.processes, self.env).run
        return import_module("coderelay.host.hooks.hooks").Hooks(configured.hooks_of(written), run, self.secrets)

    def shell(self) -> Runner:
        """Loaded with the first command that a person runs as their own."""
        return import_module("coderelay.host.shell").Shell(
            self.processes, self.own_environment, self.shell_output_bytes
        )

    def shell_output_bytes(self, cwd: str) -> int:
        """Where the configuration is wrong, a command may be there to mend it."""
        try:
            return self.bash_limits(cwd).output_bytes
        except BadInput:
            return BashLimits().output_bytes

    def own_environment(self) -> Mapping[str, str]:
        """As this process was started: what was learned of other programs' files is not in it."""
        return own_environment(os.environ)

    def guide(self) -> GuideAgent:
        return GuideAgent(self.toolbox(), self.workspace, self.programs)

    @property
    def log_name(self) -> str:
        url = self.config.database_url
        return self.config.database if url is None else without_user(url).partition("?")[0]

    async def offered_models(self, cwd: str) -> list[ModelShown]:
        offered: Any = import_module("coderelay.models.offered")  # only people ask
        found: list[ModelShown] = await offered.offered_models(self.providers(cwd), self.env, self.config.home)
        return found

    async def files_in(self, folder: str) -> FilesShown:
        shown: FilesShown = await import_module("coderelay.tools.listing").list_folder(folder)  # only people ask
        return shown

    def programs(self) -> Sequence[str]:
        return agents_on_path(self.env)

    async def open_patiently(self) -> Host:
        """As `open` does, but a log that another process has locked is waited for without blocking the event loop."""
        began, is_told = time.monotonic(), False
        while True:
            try:
                return self.open()
            except StoreLocked:
                if not is_told and time.monotonic() - began > TELL_SECONDS:
                    is_told = True
                    self.tell(waiting_words(self.config.database))
            await asyncio.sleep(_OPEN_SECONDS)

    def open(self) -> Host:
        """Raises StoreFailed if the log cannot be used."""
        agents = {"native": self.native_agent(), "guide": self.guide()}
        return Host(
            self.store(),
            self.ownership(),
            self.exchange(),
            agents,
            files=self.turn_files,
            limits=self.limits,
            policy=self.policy,
            sandbox=self.sandbox,
            texts=self.texts,
            surroundings=self,
            servers=self.server_rows,
            hooks=self.hooks,
            shell=self.shell,
            secrets=self.secrets,
        )

    async def close(self, host: Host) -> None:
        await host.close()
        for _, providers in self._providers:
            await providers.close()
        for servers in self._servers.values():
            await servers.close()
        await self.processes.close()
        if self._sandboxes is not None:
            await self._sandboxes.close()
