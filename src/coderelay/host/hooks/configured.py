"""From what is written in a configuration to hooks."""

from collections.abc import Iterator, Mapping, Sequence

from coderelay.config.settings import HookEvent, HookGroup
from coderelay.host.hooks.hook import Configured, Hook


def hooks_of(written: Mapping[HookEvent, Sequence[str | HookGroup]]) -> Configured:
    return {event: tuple(_hooks(entries)) for event, entries in written.items()}


def _hooks(entries: Sequence[str | HookGroup]) -> Iterator[Hook]:
    for entry in entries:
        if isinstance(entry, str):
            yield Hook(entry)
            continue
        for each in entry.hooks:
            yield Hook(each.command, entry.matcher, each.timeout, each.required, each.variables)
