"""`coder mcp`: manage MCP servers (Model Context Protocol), whose tools the agent can use."""

import argparse
import os
import re
import shlex
import sys
from collections.abc import Mapping
from typing import Any

from coderelay.app import App
from coderelay.cli.startup.event_loop_and_ctrl_c import run_loop
from coderelay.cli.startup.localized_argument_parser import LocalizedArgumentParser
from coderelay.cli.startup.open_app import new_app
from coderelay.cli.startup.real_folder_path import real_folder
from coderelay.client.i18n import error_in_words, retell, t
from coderelay.config.config_paths import person_file
from coderelay.config.edit_config import add_server, remove_server
from coderelay.config.loaded_config import home_of
from coderelay.protocol.errors import BadInput, CoderError
from coderelay.protocol.query_results import ServerRow
from coderelay.protocol.text_escaping_and_width import display_path, escaped
from coderelay.protocol.translatable import join_texts, say
from coderelay.tools.mcp.restarting_server import ServerLimits
from coderelay.tools.mcp.server_status_and_prompt_text import ServerStatuses

_SECONDS = 10.0
_MARKS = {"running": "✓", "starting": "✗", "failed": "✗"}


def main(arguments: list[str]) -> int:
    options, command = _parse(arguments)
    try:
        if options.action == "add":
            return _add(options, command)
        if options.action == "remove":
            return _remove(options.name)
        return run_loop(_list(real_folder()))
    except CoderError as error:
        sys.stderr.write(f"coder: {error_in_words(error)}\n")
        return 1


def _parse(arguments: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """The options, and the words after `--`: the program of a server with its arguments."""
    parser = LocalizedArgumentParser(prog="coder mcp", description=t(__doc__ or ""), allow_abbrev=False)
    parser.set_defaults(action="list")
    actions = parser.add_subparsers(dest="action", metavar="list|add|remove")
    actions.add_parser("list", help=t("list the servers, whether they respond, and how many tools they have"))
    adding = actions.add_parser(
        "add",
        help=t("add a server to your own configuration"),
        usage="coder mcp add NAME [--env NAME[=VALUE]] -- COMMAND [ARGUMENT ...]\n"
        "       coder mcp add NAME URL [--header 'NAME: VALUE'] [--bearer-token-env-var NAME]",
        allow_abbrev=False,
    )
    adding.add_argument("name", metavar="NAME")
    adding.add_argument(
        "--url",
        metavar="URL",
        help=t("connect to this address instead of starting a COMMAND"),
    )
    adding.add_argument(
        "-e",
        "--env",
        action="append",
        default=[],
        metavar="NAME[=VALUE]",
        help=t("set an environment variable for COMMAND; without a value, the value in your shell is used"),
    )
    adding.add_argument(
        "-H",
        "--header",
        action="append",
        default=[],
        metavar="'NAME: VALUE'",
        help=t("send this header to URL; ${NAME} stands for the environment variable NAME"),
    )
    adding.add_argument(
        "--bearer-token-env-var",
        action="append",
        dest="header",
        type=lambda name: f"Authorization: Bearer ${{{name}}}",
        metavar="NAME",
        help=t("send the token in the environment variable NAME to URL"),
    )
    adding.add_argument("-t", "--transport", choices=("stdio", "http"), help=argparse.SUPPRESS)  # the rest says it
    actions.add_parser("remove", help=t("remove a server from your own configuration")).add_argument(
        "name", metavar="NAME"
    )
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    options, place = parser.parse_known_args(arguments[:cut])
    command = arguments[cut + 1 :]
    if place and (options.action != "add" or any(each.startswith("-") for each in place)):
        parser.parse_args(arguments[:cut])  # names them and exits
    if place:
        if len(place) > 1 or "://" not in place[0] or options.url or command:
            example = shlex.join(["coder", "mcp", "add", options.name, "--", *place, *command])
            adding.error(t("put -- before the command: {example}", example=example))
        options.url = place[0]
    if options.action == "add" and bool(options.url) == bool(command):
        adding.error(t("give either -- COMMAND or a URL"))
    if options.action == "add" and ((options.env and options.url) or (options.header and command)):
        adding.error(t("--env is for a COMMAND, --header for a URL"))
    if options.action != "add" and cut < len(arguments):
        parser.error(t("only `add` takes a command"))
    return options, command


def _add(options: argparse.Namespace, command: list[str]) -> int:
    if os.environ.get("CODER"):
        raise BadInput(t("a command that an agent runs cannot add an MCP server"))
    home = home_of(os.environ)
    add_server(home, options.name, _entry(options, command))
    name, file = escaped(options.name), display_path(person_file(home))
    sys.stdout.write(t("added {name} to {file}; test it with `coder mcp list`", name=name, file=file) + "\n")
    return 0


def _entry(options: argparse.Namespace, command: list[str]) -> dict[str, Any]:
    if options.url:
        headers = dict(map(_header, options.header))
        return {"url": options.url} | ({"headers": headers} if headers else {})
    entry: dict[str, Any] = {"command": command[0]}
    if command[1:]:
        entry["args"] = command[1:]
    if options.env:
        entry["env"] = dict(map(_variable, options.env))
    return entry


def _variable(text: str) -> tuple[str, str]:
    name, given, value = text.partition("=")
    return name, value if given else f"${{{name}}}"


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not re.fullmatch(r"[A-Za-z0-9-]+", name) or not value.strip():
        like = "'Authorization: Bearer ${TOKEN}'"
        raise BadInput(t("{text} is not a header like {example}", text=repr(escaped(text)), example=like))
    return name, value.strip()


def _remove(name: str) -> int:
    if os.environ.get("CODER"):
        raise BadInput(t("a command that an agent runs cannot remove an MCP server"))
    remove_server(home_of(os.environ), name)
    sys.stdout.write(t("removed {name}", name=escaped(name)) + "\n")
    return 0


async def _list(folder: str) -> int:
    app = new_app(folder)
    rows = await examine_servers(app, folder)
    width = max((len(each.name) for each in rows), default=0)
    for each in rows:
        sys.stdout.write(
            f"{_MARKS[each.state]} {each.name:{width}}  {retell(server_status(each))}  {escaped(each.where)}\n"
        )
    if not rows:
        sys.stdout.write(t("no MCP servers configured; add one with `coder mcp add NAME -- COMMAND`") + "\n")
    if waiting := untrusted_servers(app.config.untrusted):
        names = ", ".join(map(escaped, waiting))
        wants = t(
            "this folder also configures {names}: not trusted yet; review it with `coder permissions trust`",
            names=names,
        )
        sys.stdout.write(f"– {wants}\n")
    return 0


async def examine_servers(app: App, folder: str) -> list[ServerRow]:
    """The state of each server. Each one is really started or contacted, and stopped again."""
    pool = app.mcp.new_pool(ServerLimits(start=_SECONDS, answer=_SECONDS, step_wait_seconds=2 * _SECONDS))
    servers = pool.of(folder, app.folders.of(folder).settings.mcp_servers)
    try:
        return [] if servers is None else await ServerStatuses([servers]).rows()
    finally:
        await pool.close()
        await app.processes.close()


def server_status(row: ServerRow) -> str:
    if row.state != "running":
        return " ⏎ ".join(row.note.splitlines())
    counts = [
        (len(row.tools), "1 tool", "{count} tools"),
        (len(row.prompts), "1 prompt", "{count} prompts"),
        (len(row.resources), "1 resource", "{count} resources"),
    ]
    told = [one if count == 1 else say(many, count=count) for count, one, many in counts if count]
    return join_texts(", ", told) or "no tools"


def untrusted_servers(untrusted: Mapping[str, Any]) -> list[str]:
    return [key.partition(".")[2] for key in untrusted if key.startswith("mcp_servers.")]
