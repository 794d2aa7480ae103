"""`coder sessions`: list, show, export and delete sessions."""

import argparse
import os
import sys
import time
from typing import Any

import msgspec

from coderelay.cli.house import me, run_with_house
from coderelay.client.background import background_line
from coderelay.host.host import Host
from coderelay.protocol.commands import DeleteSession, Unchanged
from coderelay.protocol.errors import UnknownSession
from coderelay.protocol.ids import SessionId
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
from coderelay.protocol.summary import Summary


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    return run_with_house(lambda host: _run(host, options))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="coder sessions", description=__doc__, allow_abbrev=False)
    parser.set_defaults(action="list", here=False, json=False, limit=50)
    actions = parser.add_subparsers(dest="action", metavar="list|show|export|delete")
    listing = actions.add_parser("list", help="newest first")
    listing.add_argument("--here", action="store_true", help="only those of this folder")
    listing.add_argument("--json", action="store_true", help="one object per line")
    listing.add_argument("--limit", type=int, default=50)
    for name, what in (
        ("show", "the conversation"),
        ("export", "as JSON: model, tools and messages in the OpenAI form"),
        ("delete", "the session and everything in it; a running turn is stopped"),
    ):
        action = actions.add_parser(name, help=what)
        action.add_argument("session", metavar="ID")
        if name == "show":
            action.add_argument("--diff", action="store_true", help="what its turns changed in the files")
    return parser


async def _run(host: Host, options: argparse.Namespace) -> int:
    match options.action or "list":
        case "list":
            await _list(host, options)
        case "show":
            await (_show_diff if options.diff else _show)(host, SessionId(options.session))
        case "export":
            _print_json(await host.get(ExportSession(SessionId(options.session))), indent=1)
        case _:
            await _delete(host, SessionId(options.session))
    return 0


async def _list(host: Host, options: argparse.Namespace) -> None:
    cwd = os.path.realpath(".") if options.here else None
    for each in await host.get(ListSessions(cwd=cwd, limit=options.limit)):
        await _list_one(host, each, options)
        for child in await host.get(ListChildren(each.id)) if each.children else ():
            await _list_one(host, child, options)


async def _list_one(host: Host, each: Summary, options: argparse.Namespace) -> None:
    """A child stands below the session that it works for."""
    if options.json:
        _print_json(each)
    else:
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(each.updated_at / 1000))
        reason = await host.get(WhyWaiting(each.id)) if each.phase == "running" else None
        note = f"  (waiting for a host: {reason})" if reason else ""
        title = f"{'└ ' if each.parent else ''}{each.title or '(no prompt yet)'}"
        sys.stdout.write(f"{each.id}  {when}  {_state(each):9} {title}  {each.cwd}{note}\n")


async def _show(host: Host, session: SessionId) -> None:
    summary = await host.get(ShowSession(session))
    sys.stdout.write(
        f"{summary.title or session}\n{summary.cwd}  {summary.model}  {summary.mode}  {_state(summary)}\n"
    )
    if summary.parent is not None:
        sys.stdout.write(f"works for  {summary.parent}\n")
    for child in await host.get(ListChildren(session)):
        sys.stdout.write(f"task  {child.id}  {_state(child)}  {child.title}\n")
    for command in await host.get(ListBackground(session)):
        sys.stdout.write(f"background  {background_line(command)}\n")
    for row in await host.get(ReadMessages(session)):
        for line in _lines(msgspec.json.decode(row.data)):
            sys.stdout.write(f"\n{line}\n")


async def _show_diff(host: Host, session: SessionId) -> None:
    await host.get(ShowSession(session))
    found = await host.get(ShowDiff(session, by_turns=True))
    sys.stdout.write("".join(f"{line}\n" for line in found.files) or "its turns changed no files that are known\n")
    sys.stdout.write(found.diff)


def _lines(message: dict[str, Any]) -> list[str]:
    match message:
        case {"type": "user_prompt", "prompt": prompt}:
            return [f"> {prompt}"]
        case {"type": "assistant" | "user", "message": {"content": content}}:
            return [line for block in content if (line := _block(block))]
        case {"type": "result", "error": error}:
            return [f"failed: {error}"]
        case _:
            return []


def _block(block: dict[str, Any]) -> str:
    match block:
        case {"type": "text", "text": text}:
            return text
        case {"type": "thinking", "thinking": thinking}:
            return f"({thinking})"
        case {"type": "tool_use", "name": name, "input": arguments}:
            return f"• {name} {msgspec.json.encode(arguments).decode()}"
        case {"type": "tool_result", "content": content}:
            return "\n".join(f"  {line}" for line in str(content).splitlines())
        case _:
            return ""


async def _delete(host: Host, session: SessionId) -> None:
    if isinstance(await host.send(DeleteSession(session=session, by=me())), Unchanged):
        raise UnknownSession(session)
    sys.stdout.write(f"deleted {session}\n")


def _state(summary: Summary) -> str:
    return f"{summary.phase}+{summary.queued}" if summary.queued else summary.phase


def _print_json(value: object, indent: int = 0) -> None:
    text = msgspec.json.encode(value)
    sys.stdout.write((msgspec.json.format(text, indent=indent) if indent else text).decode() + "\n")
