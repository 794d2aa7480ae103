"""Completion while typing: `/` commands and their arguments at the start of the input, `@` files everywhere."""

import asyncio
import os
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from typing import Generic, Protocol, TypeVar

from msgspec import Struct
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from coderelay.client.client import Client
from coderelay.client.commands.models_and_think import offered
from coderelay.client.commands.slash_command import ArgumentKind
from coderelay.client.find_session import is_known
from coderelay.client.slash_command_help_and_completion import completions
from coderelay.client.slash_commands import COMMANDS
from coderelay.protocol.errors import CoderError
from coderelay.protocol.ids import SessionId
from coderelay.protocol.queries import ListFiles, ListSessions, ShowDiff, ShowSession
from coderelay.protocol.query_results import CommandShown, FilesDiff
from coderelay.surfaces.terminal.input.fuzzy_match import FuzzyIndex, best_of
from coderelay.surfaces.terminal.input.mention_syntax import mention_of, unfinished_mention

_COMMAND = re.compile(r"\s*/(?P<name>\S*)")
_ARGUMENT = re.compile(r"\s*/(?P<name>\S+)\s+(?P<typed>\S*)")
_AGENTS = "/"  # `//name` is a command of the agent
_MOST_FILES = 50
FRESH_SECONDS = 3.0
_CHOICES = re.compile(r"\[?([\w-]+(?:\|[\w-]+)+)\]?")  # in the `argument-hint` of somebody else's command
_SESSIONS = 200


class Candidate(Struct, frozen=True):
    text: str
    meaning: str = ""


class Offers(Protocol):
    async def commands(self) -> Sequence[CommandShown]: ...

    async def arguments(self, command: CommandShown, typed: str) -> Sequence[Candidate]:
        """The known arguments of a command. For folder arguments, the folders whose path may begin with `typed`."""
        ...

    async def files(self) -> FuzzyIndex: ...


class InputCompleter(Completer):
    def __init__(self, offers: Offers) -> None:
        self._offers = offers

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Returns nothing, because all candidates are asynchronous."""
        return ()

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        before = document.text_before_cursor
        for each in await self._found(before):
            yield each

    async def _found(self, before: str) -> list[Completion]:
        if (command := _COMMAND.fullmatch(before)) is not None:
            return await self._commands(command["name"])
        if (mention := unfinished_mention(before)) is not None:
            return await self._files(mention.path, len(before) - mention.start)
        if (argument := _ARGUMENT.fullmatch(before)) is not None:
            return await self._arguments(argument["name"], argument["typed"])
        return []

    async def _commands(self, typed: str) -> list[Completion]:
        only_agents = typed.startswith(_AGENTS)
        known = {
            each.name: each for each in await self._offers.commands() if each.origin == "agent" or not only_agents
        }
        slash = "//" if only_agents else "/"
        found = best_of(list(known), typed.removeprefix(_AGENTS))
        return [_command(known[name], slash, len(typed) + 1) for name in found]

    async def _arguments(self, name: str, typed: str) -> list[Completion]:
        command = next((each for each in await self._offers.commands() if each.name == name), None)
        if command is None:
            return []
        offers = {each.text: each for each in await self._offers.arguments(command, typed)}
        return [_argument(offers[text], len(typed)) for text in best_of(list(offers), typed)]

    async def _files(self, path: str, typed: int) -> list[Completion]:
        names = await self._offers.files()
        found = await names.best(path.removeprefix("./"), _MOST_FILES)
        return [_file(each, typed) for each in found]


def _command(command: CommandShown, slash: str, typed: int) -> Completion:
    shown = f"{slash}{command.name}"
    return Completion(
        f"{shown} " if command.hint else shown,
        start_position=-typed,
        display=f"{shown} {command.hint}".rstrip(),
        display_meta=command.description,
    )


def _argument(offer: Candidate, typed: int) -> Completion:
    meaning = " ".join(offer.meaning.split())
    return Completion(offer.text, start_position=-typed, display=offer.text, display_meta=meaning)


def _file(path: str, typed: int) -> Completion:
    """A folder is completed without a space, so that its content can be completed next."""
    end = "" if path.endswith("/") else " "
    return Completion(f"{mention_of(path)}{end}", start_position=-typed, display=path)


T = TypeVar("T")


class SessionOffers:
    """Candidates from the session that is open at the time. What cannot be determined is not offered."""

    def __init__(self, client: Client, session: Callable[[], SessionId], fresh: float = FRESH_SECONDS) -> None:
        self._client = client
        self._session = session
        self._fresh = fresh
        self._kept: dict[tuple[SessionId, ArgumentKind], CachedValue[Sequence[Candidate]]] = {}
        self._commands: dict[SessionId, CachedValue[Sequence[CommandShown]]] = {}
        self._files: dict[SessionId, CachedValue[FuzzyIndex]] = {}

    async def commands(self) -> Sequence[CommandShown]:
        session = self._session()
        if session not in self._commands:
            self._commands[session] = CachedValue(lambda: completions(self._client, session, COMMANDS), self._fresh)
        return await self._commands[session].value() or ()

    async def arguments(self, command: CommandShown, typed: str) -> Sequence[Candidate]:
        if command.origin != "built-in":
            choices = _CHOICES.fullmatch(command.hint)
            return [Candidate(each) for each in choices[1].split("|")] if choices is not None else ()
        record = next(each for each in COMMANDS if each.name == command.name)
        if record.completes == "folder":
            return [Candidate(each) for each in await self._folders(typed)]
        words = [Candidate(each) for each in record.choices]
        return [*words, *(await self._found_out(record.completes) if record.completes is not None else ())]

    async def _found_out(self, kind: ArgumentKind) -> Sequence[Candidate]:
        """Candidates that must be queried from the session."""
        session = self._session()
        if (session, kind) not in self._kept:
            self._kept[session, kind] = CachedValue(lambda: self._ask(kind, session), self._fresh)
        return await self._kept[session, kind].value() or ()

    async def _ask(self, kind: ArgumentKind, session: SessionId) -> Sequence[Candidate]:
        match kind:
            case "model":
                return [Candidate(each.name, each.source) for each in await offered(self._client, session)]
            case "session":
                return await self._sessions(session)
            case "changed file":
                return [Candidate(each) for each in changed_names(await self._client.get(ShowDiff(session)))]
            case "command":
                return [Candidate(each.name, each.description) for each in await self.commands()]
            case "export file":
                return [Candidate(f"session-{session[:8]}.{form}") for form in ("md", "json")]
            case "folder":
                return [Candidate(each) for each in await self._folders("")]

    async def files(self) -> FuzzyIndex:
        session = self._session()
        if session not in self._files:
            self._files[session] = CachedValue(lambda: self._all_files(session), self._fresh)
        return await self._files[session].value() or FuzzyIndex(())

    async def _folders(self, typed: str) -> Sequence[str]:
        try:
            cwd = (await self._client.get(ShowSession(self._session()))).cwd
            return await asyncio.to_thread(_folders, cwd, typed)
        except (CoderError, OSError):
            return ()

    async def _all_files(self, session: SessionId) -> FuzzyIndex:
        return FuzzyIndex((await self._client.get(ListFiles(session))).paths)

    async def _sessions(self, session: SessionId) -> Sequence[Candidate]:
        folder = (await self._client.get(ShowSession(session))).cwd
        rows = await self._client.get(ListSessions(cwd=folder, limit=_SESSIONS))
        return [
            Candidate(each.id, each.title or each.last_prompt)
            for each in rows
            if each.id != session and is_known(each)
        ]


def _folders(cwd: str, typed: str) -> list[str]:
    """Folders anywhere on this machine that may complete the typed path; each ends in a slash."""
    above, _, begun = typed.rpartition("/")
    start = f"{above}/" if "/" in typed else ""
    with os.scandir(os.path.join(cwd, os.path.expanduser(start))) as entries:
        names = [each.name for each in entries if each.is_dir()]
    return [f"{start}{name}/" for name in sorted(names) if begun.startswith(".") or not name.startswith(".")]


class CachedValue(Generic[T]):
    """A cached value that is slow to determine."""

    def __init__(self, find: Callable[[], Awaitable[T]], fresh: float) -> None:
        self._find = find
        self._fresh = fresh
        self._known: T | None = None
        self._since: float | None = None
        self._finding: asyncio.Task[None] | None = None

    async def value(self) -> T | None:
        """The cached value, at once if there is one; a stale value is refreshed in the background. None if it cannot
        be determined."""
        if self._finding is None and self._is_old():
            self._finding = asyncio.create_task(self._find_out())
        if self._known is None and self._finding is not None:
            await asyncio.shield(self._finding)
        return self._known

    def _is_old(self) -> bool:
        return self._since is None or asyncio.get_running_loop().time() - self._since >= self._fresh

    async def _find_out(self) -> None:
        try:
            self._known = await self._find()
            self._since = asyncio.get_running_loop().time()
        except CoderError:  # nothing new is offered, and the next call tries again
            return
        finally:
            self._finding = None


def changed_names(difference: FilesDiff) -> list[str]:
    return list(dict.fromkeys(name for each in difference.changes if each.covered for name in each.names))
