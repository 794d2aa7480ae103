"""`coder doctor`: what was found here, what is missing, what to do."""

import argparse
import os
import platform
import shutil
import sqlite3
import sys
from urllib.parse import urlsplit

from msgspec import Struct

from coderelay import __version__
from coderelay.config.load import Config, load
from coderelay.models.providers import Providers
from coderelay.protocol.errors import StoreFailed
from coderelay.store.sqlite_file import check_file


class Finding(Struct, frozen=True):
    """`bad` means coder does not work here until it is mended."""

    what: str
    found: str
    bad: bool = False
    do: str = ""


def main(arguments: list[str]) -> int:
    argparse.ArgumentParser(prog="coder doctor", description=__doc__, allow_abbrev=False).parse_args(arguments)
    config = load(os.environ)
    findings = [_program(), _python(), _model(config), _log(config), *_tools(), _folder()]
    width = max(len(each.what) for each in findings)
    for each in findings:
        sys.stdout.write(f"{'✗' if each.bad else '✓'} {each.what:{width}}  {each.found}\n")
        if each.do:
            sys.stdout.write(f"  {'':{width}}  → {each.do}\n")
    return 1 if any(each.bad for each in findings) else 0


def _program() -> Finding:
    return Finding("coder", __version__)


def _python() -> Finding:
    return Finding("python", f"{platform.python_version()}, SQLite {sqlite3.sqlite_version}, {platform.system()}")


def _model(config: Config) -> Finding:
    if config.model is None:
        return Finding(
            "model", "none", bad=True, do="set OPENAI_API_KEY (and OPENAI_BASE_URL, OPENAI_MODEL for another server)"
        )
    problem = Providers(os.environ).why_not(config.model)
    if problem is not None:
        return Finding("model", config.model, bad=True, do=problem)
    address = urlsplit(os.environ.get("OPENAI_BASE_URL", "")).hostname  # the whole may hold a password
    return Finding("model", f"{config.model} at {address}" if address else config.model)


def _log(config: Config) -> Finding:
    if config.database_url is not None:
        where = urlsplit(config.database_url)  # never the whole: it may hold a password
        return Finding("log", f"PostgreSQL at {where.hostname or 'the local socket'}{where.path}")
    if not os.path.exists(config.database):
        return Finding("log", f"{config.database} (made with the first session)")
    try:
        events, sessions = check_file(config.database)
    except StoreFailed as error:
        return Finding("log", error.message, bad=True, do=error.hint)
    size = os.path.getsize(config.database) / 1e6
    return Finding("log", f"{config.database}: whole, {sessions} sessions, {events} events, {size:.1f} MB")


def _tools() -> list[Finding]:
    wanted = [
        ("bash", "commands run in sh instead"),
        ("git", "undo and diff need it"),
    ]
    found = [(name, shutil.which(name), without) for name, without in wanted]
    return [Finding(name, path) if path else Finding(name, "not found", do=without) for name, path, without in found]


def _folder() -> Finding:
    folder = os.getcwd()
    if os.access(folder, os.W_OK):
        return Finding("folder", folder)
    return Finding("folder", f"{folder} cannot be written", do="the session file beside the work is left out")
