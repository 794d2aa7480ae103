"""A configured hook: one command that the person wants to be run at a certain point of a turn."""

import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from coderelay.client.builtin_tool_specs_loader import tool_specs
from coderelay.config.settings import HookEvent, HookGroup
from coderelay.host.hooks.hook_output import HookOutput

Configured = Mapping[HookEvent, Sequence["Hook"]]
_LONGEST_NAME = 60
_ALL = ("", "*")


class Hook(Struct, frozen=True):
    """`tools` is a regular expression for the tools that the hook is for. If a `required` hook fails, what it was
    asked about does not happen. `variables` are those it may set besides the usual ones of tool chains."""

    command: str
    tools: str = ""
    seconds: float = 60
    required: bool = False
    variables: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name shown to people and models: the command line, without the folder of the program."""
        program, space, rest = self.command.strip().partition("\n")[0].partition(" ")
        line = f"{program.rpartition('/')[2]}{space}{rest}"
        return line if len(line) <= _LONGEST_NAME else line[: _LONGEST_NAME - 1] + "…"

    def is_for(self, *names: str) -> bool:
        """Whether the hook is for a tool with one of these names. Hooks may use our names, or those that other
        agents' hooks use."""
        known = [*names, *map(tool_specs().external_name, names)]
        return self.tools in _ALL or any(re.fullmatch(self.tools, name) for name in known if name)


Run = Callable[[Hook, bytes, str], Awaitable[HookOutput]]
"""Runs a hook in a folder. Whatever goes wrong is part of the returned output."""


def hooks_of(written: Mapping[HookEvent, Sequence[str | HookGroup]]) -> Configured:
    return {event: tuple(_hooks(entries)) for event, entries in written.items()}


def _hooks(entries: Sequence[str | HookGroup]) -> Iterator[Hook]:
    for entry in entries:
        if isinstance(entry, str):
            yield Hook(entry)
            continue
        for each in entry.hooks:
            yield Hook(each.command, entry.matcher, each.timeout, each.required, each.variables)
