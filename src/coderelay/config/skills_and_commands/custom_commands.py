"""Custom commands: `/name arguments` sends the text of a Markdown file, with the arguments filled in.

A file in a sub-folder is called `folder:name`. The text is only ever sent to the agent: a `!`-command or an `@file`
in it is neither run nor read here, whoever wrote it. The agent does that with its tools, whose calls are subject to
permissions.
"""

import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct

from coderelay.config.skills_and_commands.front_matter import FrontMatter, read_front_matter
from coderelay.config.skills_and_commands.trusted_text_files import (
    MOST_TEXTS,
    FoundText,
    TextFolder,
    gather,
    list_place,
    not_used,
    read_text,
)
from coderelay.protocol.errors import BadInput
from coderelay.protocol.text_escaping_and_width import display_path, escaped
from coderelay.protocol.translatable import say

_SUFFIX = ".md"
_NAME = re.compile(r"\w[\w.-]{0,63}(?::\w[\w.-]{0,63}){0,3}")
_DEEPEST = 3
_DESCRIPTION_CHARS = 200

_PLACEHOLDER = re.compile(r"(\\?)\$(ARGUMENTS|[1-9](?!\d))")
_ARGUMENT = re.compile(r""""([^"]*)"|'([^']*)'|(\S+)""")
_COMMAND_INSIDE = re.compile(r"!`[^`\n]+`")
_FILE_INSIDE = re.compile(r"(?<![\w`@])@(?:[\w.~-]*/[\w./-]*|[\w-]+\.\w{1,5}\b(?![.(]))")
_RUN_FIRST = "(!`…`: run this command with bash first; its output belongs in its place.)"
_READ_FIRST = "(@ before a path: read that file first.)"


class CustomCommand(Struct, frozen=True):
    """`allowed_tools` is what the author thinks the command needs; it never allows anything."""

    name: str
    description: str
    text: str
    file: str
    argument_hint: str = ""
    allowed_tools: tuple[str, ...] = ()
    model: str = ""
    own: bool = True

    def expand(self, arguments: str) -> str:
        """The prompt. The arguments are filled in once; placeholders inside of them are not expanded."""
        given = arguments.strip()
        words = [found[1] or found[2] or found[3] or "" for found in _ARGUMENT.finditer(given)]

        def value(found: re.Match[str]) -> str:
            if found[1]:
                return found[0][1:]
            if found[2] == "ARGUMENTS":
                return given
            number = int(found[2])
            return words[number - 1] if number <= len(words) else ""

        text = _PLACEHOLDER.sub(value, self.text)
        takes = any(not found[1] for found in _PLACEHOLDER.finditer(self.text))
        return "\n\n".join(filter(None, (text, given if not takes else "", *self._to_do_first())))

    def _to_do_first(self) -> Iterator[str]:
        if _COMMAND_INSIDE.search(self.text):
            yield _RUN_FIRST
        if _FILE_INSIDE.search(self.text):
            yield _READ_FIRST


class CustomCommands(Struct, frozen=True):
    """`notes` tell people which commands are left out, and why. `untrusted` are the names of those that the person
    does not trust."""

    found: tuple[CustomCommand, ...] = ()
    notes: tuple[str, ...] = ()
    untrusted: tuple[str, ...] = ()


def find_commands(places: Sequence[TextFolder], seen: Mapping[str, str], taken: Collection[str]) -> CustomCommands:
    """`places` begin with the nearest. `seen` has the digests of the texts that the person trusts in the folder;
    `taken` has the names of built-in commands, which cannot be replaced."""

    def make(place: TextFolder, text: FoundText) -> CustomCommand:
        return _command(place, text, taken)

    found, notes, untrusted = gather("commands", places, seen, command_texts, _name, make)
    return CustomCommands(tuple(sorted(found, key=lambda each: each.name)), notes, untrusted)


def command_texts(place: TextFolder, notes: list[str]) -> Iterator[FoundText]:
    """Every Markdown file of a place that can be read, whether it is a valid command or not."""
    paths = list(islice(_paths(place, notes), MOST_TEXTS + 1))
    if len(paths) > MOST_TEXTS:
        where = display_path(place.path)
        notes.append(say("{path} has more than {count} files; the rest is not used", path=where, count=MOST_TEXTS))
    for path in paths[:MOST_TEXTS]:
        try:
            yield read_text(place, path)
        except BadInput as refused:
            notes.append(str(refused))


def _paths(place: TextFolder, notes: list[str]) -> Iterator[str]:
    """The paths of the Markdown files. No folder is visited twice, however many links lead to it."""
    below, seen = [""], set[str]()
    while below:
        folder = below.pop()
        real = os.path.realpath(os.path.join(place.path, folder))
        if real in seen:
            continue
        seen.add(real)
        if len(seen) > MOST_TEXTS:
            where = display_path(place.path)
            notes.append(
                say("{path} has more than {count} folders; the rest is not used", path=where, count=MOST_TEXTS)
            )
            return
        try:
            inside = list(list_place(place, folder))
        except BadInput as refused:
            notes.append(str(refused))
            continue
        yield from (path for path, is_folder in inside if not is_folder and path.endswith(_SUFFIX))
        deeper = [path for path, is_folder in inside if is_folder and not os.path.basename(path).startswith(".")]
        if place.folder is not None:  # a link could lead to everything in the folder
            links = [each for each in deeper if os.path.islink(each)]
            notes += [not_used(each, "it is a link to a folder") for each in links]
            deeper = [each for each in deeper if each not in links]
        if folder.count(os.sep) + bool(folder) < _DEEPEST:
            below += [os.path.relpath(each, place.path) for each in reversed(deeper)]


def _command(place: TextFolder, text: FoundText, taken: Collection[str]) -> CustomCommand:
    name = _name(place, text.path)
    if not _NAME.fullmatch(name):
        raise BadInput("its name may contain only letters, digits and . _ -, and at most 64 characters")
    if name in taken:
        raise BadInput(say("there is a built-in /{name}", name=name))
    head = read_front_matter(text.decoded())
    body = head.body.strip()
    if not body:
        raise BadInput("it is empty")
    return CustomCommand(
        name=name,
        description=_description(head, body),
        text=body,
        file=text.path,
        argument_hint=_line(head.text("argument-hint")),
        allowed_tools=tuple(map(escaped, head.texts("allowed-tools"))),
        model=_line(head.text("model")),
        own=place.folder is None,
    )


def _name(place: TextFolder, path: str) -> str:
    return os.path.relpath(path, place.path).removesuffix(_SUFFIX).replace(os.sep, ":")


def _description(head: FrontMatter, body: str) -> str:
    return _line(head.text("description")) or _line(body.partition("\n")[0].lstrip("# "))


def _line(text: str) -> str:
    line = escaped(" ".join(text.split()))
    return f"{line[: _DESCRIPTION_CHARS - 1]}…" if len(line) > _DESCRIPTION_CHARS else line
