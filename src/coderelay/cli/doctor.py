"""`coder doctor`: check the setup: what was found, what is missing, what to do."""

import asyncio
import os
import platform
import shutil
import sqlite3
import sys
from collections.abc import Mapping
from tempfile import TemporaryDirectory
from typing import Literal

import msgspec
from msgspec import Struct

from coderelay import __version__
from coderelay.cli.startup.event_loop_and_ctrl_c import run_loop
from coderelay.cli.startup.localized_argument_parser import LocalizedArgumentParser
from coderelay.cli.startup.python_gc import enable_garbage_collection
from coderelay.client.i18n import retell, speak, t
from coderelay.config.detect.model_detection import GUIDE, DetectedModel, detect
from coderelay.config.detect.other_agents_and_their_settings import PROGRAMS, agents_on_path
from coderelay.config.loaded_config import Config, home_of, load
from coderelay.http.server_url import parse_address
from coderelay.models.local.installed_weights_registry import WeightsFolder
from coderelay.models.local.running_servers import RunningServer, find_servers
from coderelay.models.model_registry import ModelRegistry
from coderelay.models.providers import KNOWN
from coderelay.protocol.errors import CannotRun, CoderError, StoreFailed
from coderelay.protocol.install_command import install_command
from coderelay.protocol.text_escaping_and_width import padded, width_of
from coderelay.protocol.translatable import encode_plain, say
from coderelay.store.sqlite.open_file import check_file
from coderelay.surfaces.nonblocking_standard_streams import write_json
from coderelay.workspace.sandbox.backend_detection import detect_sandbox

_DATABASE_SECONDS = 3.0
_SILENCE_SECONDS = 0.3  # longer than at start-up: here the person wants to know
_CONNECT = (
    "set ANTHROPIC_API_KEY or OPENAI_API_KEY, or start Ollama with a model; until then a built-in "
    "guide answers simple requests"
)
_INSTALL_SANDBOX = "`apt install bubblewrap`, `dnf install bubblewrap`, `pacman -S bubblewrap`"
_MARKS = {"found": "✓", "missing": "–", "bad": "✗"}


class Finding(Struct, frozen=True):
    """One line of the report. `missing`: coder works without it. `bad`: coder does not work until it is fixed."""

    what: str
    found: str
    state: Literal["found", "missing", "bad"] = "found"
    do: str = ""


def main(arguments: list[str]) -> int:
    parser = LocalizedArgumentParser(prog="coder doctor", description=t(__doc__ or ""), allow_abbrev=False)
    parser.add_argument("--json", action="store_true", help=t("print one JSON object instead of text"))
    options = parser.parse_args(arguments)
    enable_garbage_collection()
    findings = run_loop(examine(os.environ))
    works = all(each.state != "bad" for each in findings)
    if options.json:
        report = {"works": works, "findings": findings}
        write_json(sys.stdout, msgspec.json.encode(report, enc_hook=encode_plain).decode())
    else:
        sys.stdout.writelines(_lines(findings))
    return 0 if works else 1


async def examine(env: Mapping[str, str]) -> list[Finding]:
    folder = _here()
    config, configured = _config(env, folder)
    settings = config.settings.providers
    async with asyncio.TaskGroup() as group:
        detecting = group.create_task(detect(config, env, settings=settings, silence_seconds=_SILENCE_SECONDS))
        looking = group.create_task(find_servers(ModelRegistry(env, settings), env, silence_seconds=_SILENCE_SECONDS))
        reaching = group.create_task(_log(config))
    found = detecting.result()
    return [
        Finding("coder", __version__),
        Finding("python", f"{platform.python_version()} on {platform.system()}"),
        Finding("sqlite", sqlite3.sqlite_version),
        *configured,
        _model(config, found, env),
        _keys(found, env),
        _files(found),
        _agents(env),
        _servers(looking.result()),
        _weights(config),
        reaching.result(),
        *await _mcp_servers(config, env, folder),
        *await _feishu(config, env),
        *_programs(env),
        await asyncio.to_thread(_sandbox, config),
        _folder(folder),
    ]


def _lines(findings: list[Finding]) -> list[str]:
    names = [retell(each.what) for each in findings]
    width = max(map(width_of, names))
    told = zip(names, findings, strict=True)
    lines = [f"{_MARKS[each.state]} {padded(name, width)}  {retell(each.found)}\n" for name, each in told]
    todo = [f"  {'':{width}}  → {retell(each.do)}\n" if each.do else "" for each in findings]
    return [line for pair in zip(lines, todo, strict=True) for line in pair]


def _here() -> str | None:
    """The current folder, or None if it was removed."""
    try:
        return os.getcwd()
    except OSError:
        return None


def _config(env: Mapping[str, str], folder: str | None) -> tuple[Config, list[Finding]]:
    """If the configuration cannot be read, the rest is examined as if there were none."""
    try:
        config = load(env, folder)
    except CoderError as error:
        rest = Config(home_of(env), env.get("CODER_MODEL") or None, env.get("CODER_DATABASE_URL") or None)
        return rest, [Finding("config", error.message, "bad", error.hint)]
    speak(config.lang)
    findings = [Finding("config", ", ".join(config.files) or "no configuration file (optional)")]
    if config.untrusted:
        wanted = ", ".join(config.untrusted)
        do = "review and trust it with `coder permissions trust`"
        findings.append(
            Finding(
                "trust",
                say(
                    "this folder's configuration sets {keys}: not trusted yet",
                    keys=wanted,
                ),
                "missing",
                do,
            )
        )
    return config, findings


def _model(config: Config, found: DetectedModel, env: Mapping[str, str]) -> Finding:
    if found.model == GUIDE:
        return Finding("model", say("none ({rest})", rest=found.source or "nothing found"), "missing", _CONNECT)
    told = f"{found.model} ({found.source})"
    providers = ModelRegistry(found.imported.added_to(env), config.settings.providers)
    if (problem := providers.why_not(found.model)) is not None:
        return Finding("model", told, "bad", problem.replace("\n", " "))
    try:
        address = parse_address(providers.address(found.model))
    except CannotRun:  # a model that runs in this process has no address
        address = None
    host = address.netloc if address else ""  # never the whole address: it may hold a password
    return Finding("model", f"{told} at {host}" if host not in told else told)


def _keys(found: DetectedModel, env: Mapping[str, str]) -> Finding:
    whole = found.imported.added_to(env)
    there = [key for provider in KNOWN.values() for key in provider.keys if whole.get(key, "").strip()]
    return Finding("keys", ", ".join(there)) if there else Finding("keys", "none", "missing")


def _files(found: DetectedModel) -> Finding:
    by_file: dict[str, list[str]] = {}
    for variable, file in found.imported.files.items():
        by_file.setdefault(file, []).append(variable)
    told = "; ".join(f"{file}: {', '.join(sorted(names))}" for file, names in by_file.items())
    return Finding("other files", told or "no keys or addresses found in other programs' files")


def _agents(env: Mapping[str, str]) -> Finding:
    there = agents_on_path(env)
    if not there:
        return Finding("agents", say("none of {names}", names=", ".join(PROGRAMS)), "missing")
    return Finding("agents", say("{names} (installed; not supported by this version yet)", names=", ".join(there)))


def _servers(servers: list[RunningServer]) -> Finding:
    if not servers:
        return Finding("servers", "no Ollama, LM Studio, llama.cpp or vLLM server answers on this machine", "missing")
    told = [
        say("{provider} at {host}: 1 model", provider=each.provider, host=each.host)
        if len(each.names) == 1
        else say(
            "{provider} at {host}: {count} models", provider=each.provider, host=each.host, count=len(each.names)
        )
        for each in servers
    ]
    return Finding("servers", "; ".join(told))


def _weights(config: Config) -> Finding:
    try:
        names = [*WeightsFolder(os.path.join(config.home, "models")).all()]
    except CoderError as error:
        return Finding("weights", error.message, "missing", error.hint)
    except OSError as error:
        return Finding("weights", f"the list of models cannot be read: {error.strerror}", "missing")
    return Finding("weights", ", ".join(names)) if names else Finding("weights", "none installed", "missing")


async def _log(config: Config) -> Finding:
    if config.database_url is not None:
        return await _postgres(config.database_url)
    if not os.path.exists(config.database):
        return _log_to_be_made(config)
    try:
        events, sessions = check_file(config.database)
    except StoreFailed as error:
        return Finding("log", error.message, "bad", error.hint)
    size = os.path.getsize(config.database) / 1e6
    if not size:
        do = "if it contained sessions, restore it from a backup; otherwise nothing needs to be done"
        return Finding("log", say("{path} is empty", path=config.database), "missing", do)
    return Finding(
        "log",
        say(
            "{path}: intact, {sessions}, {events}, {size} MB",
            path=config.database,
            sessions=say("1 session") if sessions == 1 else say("{count} sessions", count=sessions),
            events=say("1 event") if events == 1 else say("{count} events", count=events),
            size=f"{size:.1f}",
        ),
    )


def _log_to_be_made(config: Config) -> Finding:
    there = config.home
    while not os.path.exists(there):
        there = os.path.dirname(there)
    if os.path.isdir(there) and os.access(there, os.W_OK | os.X_OK):
        return Finding("log", say("{path} (created with the first session)", path=config.database))
    return Finding(
        "log", say("{path} cannot be written", path=there), "bad", "set CODER_HOME to a folder you can write to"
    )


async def _postgres(url: str) -> Finding:
    """Connect as the log does, without changing anything."""
    try:
        from coderelay.store.postgres.connection import (
            PostgresServer,  # its driver is an optional dependency
            psycopg,
        )
        from coderelay.store.postgres.migrations import check_version

        server = PostgresServer(url)
    except StoreFailed as error:
        return Finding("log", error.message, "bad", error.hint)
    try:
        async with asyncio.timeout(_DATABASE_SECONDS):
            connection = await server.connect()
            version = connection.info.server_version // 10000
            try:
                await check_version(connection, server.name)
            finally:
                await connection.close()
    except TimeoutError:
        problem = f"PostgreSQL at {server.name} does not answer within {_DATABASE_SECONDS:g} s"
        return Finding("log", problem, "bad", "check CODER_DATABASE_URL and the network")
    except StoreFailed as error:
        return Finding("log", error.message, "bad", error.hint)
    except psycopg.Error as error:
        told = server.told(error)
        return Finding("log", told.message, "bad", "check CODER_DATABASE_URL and the network")
    return Finding("log", f"PostgreSQL {version} at {server.name} answers")


async def _mcp_servers(config: Config, env: Mapping[str, str], folder: str | None) -> list[Finding]:
    if not config.settings.mcp_servers or folder is None:
        return []
    from coderelay.app import App  # few people have MCP servers
    from coderelay.cli.mcp import examine_servers, server_status

    rows = await examine_servers(App(config, env), folder)
    do = "try again with `coder mcp list`, or remove it with `coder mcp remove`"
    return [
        Finding(f"mcp {each.name}", server_status(each))
        if each.state == "running"
        else Finding(f"mcp {each.name}", server_status(each), "missing", do)
        for each in rows
    ]


async def _feishu(config: Config, env: Mapping[str, str]) -> list[Finding]:
    settings = config.settings.feishu
    if settings.app_id is None:
        return []
    from coderelay.cli.feishu import examine_bot  # few people have a bot

    try:
        bot = await examine_bot(config, env)
    except StoreFailed:
        return []  # the log has a line of its own
    if not bot.has_library:
        do = say("Install it: {command}", command=install_command("lark-oapi"))
        return [Finding("feishu", "coder feishu needs lark-oapi", "missing", do)]
    findings = [Finding("feishu", settings.app_id)]
    if bot.missing:
        told = say("the environment variable {variable} is not set", variable=", ".join(bot.missing))
        findings = [Finding("feishu", told, "missing", "set it where `coder feishu` runs")]
    if bot.dead:
        last = bot.dead[0]
        told = say(
            "{count} cards could not be sent; the last one to {chat}: {why}",
            count=len(bot.dead),
            chat=last.chat_id,
            why=last.error,
        )
        findings.append(
            Finding(
                "feishu cards",
                told,
                "missing",
                "check the app and its permissions on the platform; these cards are dropped after 15 days",
            )
        )
    return findings


def _programs(env: Mapping[str, str]) -> list[Finding]:
    wanted = [
        ("bash", "bash", "install bash; until then, commands run in sh"),
        ("git", "git", "install git; undo and diff need it"),
    ]
    found = [(what, shutil.which(name, path=env.get("PATH")), without) for what, name, without in wanted]
    return [Finding(what, path) if path else Finding(what, "not found", "missing", do) for what, path, do in found]


def _sandbox(config: Config) -> Finding:
    """Try out the sandbox, whatever an earlier detection has found."""
    if not config.settings.sandbox.enabled:
        return Finding("sandbox", "turned off by sandbox.enabled: commands run without a sandbox", "missing")
    with TemporaryDirectory() as scratch:
        found = detect_sandbox(scratch)
    told = "; ".join(f"{way}: {reason}" for way, reason in found.why_not.items())
    if found.backend == "none":
        do = say("install bubblewrap ({how}); until then, more commands need your approval", how=_INSTALL_SANDBOX)
        return Finding("sandbox", say("none: commands run without a sandbox ({why})", why=told), "missing", do)
    return Finding("sandbox", f"{found.backend} ({told})" if told else found.backend)


def _folder(folder: str | None) -> Finding:
    if folder is None:
        return Finding("folder", "it no longer exists", "bad", "change to another folder")
    if os.access(folder, os.W_OK):
        return Finding("folder", folder)
    do = "make the folder writable; until then no session file is written to it"
    return Finding("folder", say("{path} cannot be written", path=folder), "missing", do)
