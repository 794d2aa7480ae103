"""`coder sessions`: list, search, show, export, delete and back up sessions."""

import argparse
import os
import sys
import time
from typing import Any

import msgspec

from coderelay.cli.startup.current_person import current_person
from coderelay.cli.startup.event_loop_and_ctrl_c import CtrlCAsException
from coderelay.cli.startup.localized_argument_parser import LocalizedArgumentParser
from coderelay.cli.startup.open_app import run_with_app
from coderelay.cli.startup.real_folder_path import real_folder
from coderelay.client.commands.diff_undo_rewind import changed_line
from coderelay.client.commands.tasks_and_ps import background_line
from coderelay.client.find_session import session_by_id
from coderelay.client.i18n import error_in_words, retell, speak, t
from coderelay.client.views.cowork_message_parser import blocks_of, read_message, result_content
from coderelay.config.loaded_config import load
from coderelay.host.host import Host
from coderelay.protocol.commands import DeleteSession, Unchanged
from coderelay.protocol.errors import BadInput, CoderError, UnknownSession
from coderelay.protocol.ids import SessionId
from coderelay.protocol.projected_rows import Summary
from coderelay.protocol.queries import (
    ExportSession,
    ListBackground,
    ListChildren,
    ListSessions,
    ReadMessages,
    ShowDiff,
    ShowSession,
    WhyWaiting,
)
from coderelay.protocol.text_escaping_and_width import display_path, padded, visible
from coderelay.protocol.translatable import encode_plain
from coderelay.surfaces.nonblocking_standard_streams import write_json


def main(arguments: list[str]) -> int:
    is_listing = bool(arguments) and arguments[0] in ("--here", "--json", "--limit")
    options = _parser().parse_args(["list", *arguments] if is_listing else arguments)
    if options.action == "backup":
        return _back_up(options.file)
    return run_with_app(lambda host: _run(host, options))


def _parser() -> LocalizedArgumentParser:
    parser = LocalizedArgumentParser(prog="coder sessions", description=t(__doc__ or ""), allow_abbrev=False)
    parser.set_defaults(action="list", here=False, json=False, limit=50, text=())
    actions = parser.add_subparsers(dest="action", metavar="list|search|show|export|delete|backup")
    listing = actions.add_parser("list", help=t("list the sessions, newest first"))
    searching = actions.add_parser(
        "search", help=t("list the sessions with these words in title, last prompt, folder or id")
    )
    searching.add_argument("text", metavar="TEXT", nargs="+")
    for each in (listing, searching):
        each.add_argument("--here", action="store_true", help=t("only the sessions of this folder"))
        each.add_argument("--json", action="store_true", help=t("print one JSON object per line"))
        each.add_argument("--limit", type=int, default=50)
    for name, what in (
        ("show", t("show the conversation")),
        ("export", t("print the session as JSON: model, tools and messages in OpenAI's format")),
        ("delete", t("delete a session and everything in it; a running turn is stopped")),
    ):
        action = actions.add_parser(name, help=what)
        action.add_argument("session", metavar="ID")
        if name == "show":
            action.add_argument(
                "--diff", action="store_true", help=t("show what the turns of the session changed in files")
            )
    backing_up = actions.add_parser("backup", help=t("copy all sessions to a new file, even while they are in use"))
    backing_up.add_argument("file", metavar="FILE")
    return parser


def _back_up(file: str) -> int:
    """Back up without building the app: a log that can no longer be written to can still be copied."""
    from coderelay.store.sqlite.backup import back_up  # not needed by the other actions

    try:
        config = load(os.environ)
        speak(config.lang)
        if config.database_url is not None:
            raise BadInput("the sessions are in PostgreSQL; back them up with its own tools", "Use pg_dump.")
        with CtrlCAsException():  # so that an interrupted copy is cleaned up
            events = back_up(config.database, file)
    except CoderError as error:
        sys.stderr.write(f"coder: {error_in_words(error)}\n")
        return 1
    if events == 1:
        _print(t("saved 1 event to {file}", file=visible(file)))
    else:
        _print(t("saved {count} events to {file}", file=visible(file), count=events))
    return 0


async def _run(host: Host, options: argparse.Namespace) -> int:
    match options.action or "list":
        case "list" | "search":
            await _list(host, options)
        case "show":
            await (_show_diff if options.diff else _show)(host, (await session_by_id(host, options.session)).id)
        case "export":
            session = (await session_by_id(host, options.session)).id
            _print_json(await host.get(ExportSession(session)), indent=1)
        case _:
            await _delete(host, (await session_by_id(host, options.session)).id)
    return 0


async def _list(host: Host, options: argparse.Namespace) -> None:
    cwd = real_folder() if options.here else None
    rows = await host.get(ListSessions(cwd=cwd, limit=options.limit, text=" ".join(options.text)))
    if not rows and not options.json:
        sys.stderr.write(t("no sessions found") + "\n")
    for each in rows:
        await _list_one(host, each, options)
        for child in await host.get(ListChildren(each.id)) if each.children else ():
            await _list_one(host, child, options)


async def _list_one(host: Host, each: Summary, options: argparse.Namespace) -> None:
    """Print one session; a child session is printed below its parent, and marked."""
    if options.json:
        _print_json(each)
    else:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(each.updated_at / 1000))
        reason = await host.get(WhyWaiting(each.id)) if each.phase == "running" else None
        note = f"  ({t('interrupted; {reason}', reason=retell(reason))})" if reason else ""
        title = f"{'└ ' if each.parent else ''}{_title(each) or t('(no prompt yet)')}"
        _print(f"{each.id}  {when}  {padded(_state(each), 9)} {title}  {display_path(each.cwd)}{note}")


async def _show(host: Host, session: SessionId) -> None:
    summary = await host.get(ShowSession(session))
    folder = display_path(summary.cwd)
    _print(f"{_title(summary) or session}\n{folder}  {summary.model}  {summary.mode}  {_state(summary)}")
    if summary.parent is not None:
        _print(f"{t('parent session')}  {summary.parent}")
    for child in await host.get(ListChildren(session)):
        _print(f"{t('task')}  {child.id}  {_state(child)}  {_title(child)}")
    for command in await host.get(ListBackground(session)):
        _print(f"{t('background')}  {background_line(command)}")
    for row in (await host.get(ReadMessages(session))).rows:
        for line in _lines(read_message(row.data)):
            _print(f"\n{line}")


async def _show_diff(host: Host, session: SessionId) -> None:
    await host.get(ShowSession(session))
    found = await host.get(ShowDiff(session, by_turns=True))
    lines = tuple(map(changed_line, found.changes)) or (t("no file changes recorded for this session"),)
    for line in lines:
        _print(line)
    sys.stdout.write(visible(found.diff) if sys.stdout.isatty() else found.diff)  # a program may apply the diff


def _lines(message: dict[str, Any]) -> list[str]:
    match message:
        case {"type": "user_prompt", "prompt": prompt}:
            return [f"> {prompt}"]
        case {"type": "assistant" | "user"}:
            return [line for block in blocks_of(message) if (line := _block(block))]
        case {"type": "result", "error": error}:
            return [t("failed: {problem}", problem=retell(str(error)))]
        case _:
            return []


def _block(block: dict[str, Any]) -> str:
    match block:
        case {"type": "text", "text": text}:
            return str(text)
        case {"type": "thinking", "thinking": thinking}:
            return f"({thinking})"
        case {"type": "tool_use", "name": name, "input": arguments}:
            return f"• {name} {msgspec.json.encode(arguments).decode()}"
        case {"type": "tool_result", "content": content}:
            return "\n".join(f"  {line}" for line in result_content(content).splitlines())
        case _:
            return ""


async def _delete(host: Host, session: SessionId) -> None:
    if isinstance(await host.send(DeleteSession(session=session, by=current_person())), Unchanged):
        raise UnknownSession(session)
    sys.stdout.write(t("deleted {session}", session=session) + "\n")


def _title(summary: Summary) -> str:
    return " ".join(summary.title.splitlines())


def _state(summary: Summary) -> str:
    phase = t(summary.phase)
    return f"{phase}+{summary.queued}" if summary.queued else phase


def _print(text: str) -> None:
    """Escapes control characters: titles, prompts and results may have been written by anyone."""
    sys.stdout.write(f"{visible(text)}\n")


def _print_json(value: object, indent: int = 0) -> None:
    text = msgspec.json.encode(value, enc_hook=encode_plain)
    write_json(sys.stdout, (msgspec.json.format(text, indent=indent) if indent else text).decode())
