"""Completion while typing: `/` commands and their arguments at the start of the input, `@` files everywhere."""

import re
from collections.abc import AsyncGenerator, Iterable

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from coderelay.protocol.query_results import CommandShown
from coderelay.surfaces.terminal.input.completion_sources import Candidate, Offers
from coderelay.surfaces.terminal.input.fuzzy_match import best_of
from coderelay.surfaces.terminal.input.mention_syntax import mention_of, unfinished_mention

_COMMAND = re.compile(r"\s*/(?P<name>\S*)")
_ARGUMENT = re.compile(r"\s*/(?P<name>\S+)\s+(?P<typed>\S*)")
_AGENTS = "/"  # `//name` is a command of the agent
_MOST_FILES = 50


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
