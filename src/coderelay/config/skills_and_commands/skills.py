"""Skills: instructions that are offered to an agent by a description, and that it loads when it needs them.

Each skill is a folder with a SKILL.md that begins with a `name` and a `description`. A skill that is wrong raises no
exception: the problem becomes a note for people, and the skill is left out.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from coderelay.config.skills_and_commands.front_matter import FrontMatter, read_front_matter
from coderelay.config.skills_and_commands.trusted_text_files import (
    MOST_TEXTS,
    FoundText,
    TextFolder,
    complaint_about,
    gather,
    list_place,
    not_used,
    read_text,
)
from coderelay.protocol.errors import BadInput
from coderelay.protocol.text_escaping_and_width import display_path, escaped
from coderelay.protocol.translatable import say

FILE = "SKILL.md"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_DESCRIPTION_CHARS = 1024


class SkillText(Struct, frozen=True):
    """The instructions, or a note that says why there are none."""

    text: str = ""
    note: str = ""


class Skill(Struct, frozen=True):
    """`allowed_tools` is what the author thinks the skill needs; it never allows anything. A `by_name_only` skill is
    for people to ask for, not for agents to choose. `digest` is empty for the person's own skills, which may change
    at any time."""

    name: str
    description: str
    file: str
    place: TextFolder
    allowed_tools: tuple[str, ...] = ()
    by_name_only: bool = False
    digest: str = ""

    @property
    def folder(self) -> str:
        return os.path.dirname(self.file)

    def load(self) -> SkillText:
        try:
            text = read_text(self.place, self.file, self.folder)
        except BadInput as refused:
            return SkillText(note=str(refused))
        if self.digest and text.digest != self.digest:
            return SkillText(note=not_used(self.file, "it has changed since it was trusted"))
        try:
            return SkillText(read_front_matter(text.decoded()).body.strip())
        except BadInput as refused:
            return SkillText(note=complaint_about(text, refused))


class Skills(Struct, frozen=True):
    """`notes` tell people which skills are left out, and why. `untrusted` are the names of those that the person does
    not trust."""

    found: tuple[Skill, ...] = ()
    notes: tuple[str, ...] = ()
    untrusted: tuple[str, ...] = ()

    def load(self, name: str) -> SkillText:
        skill = next((each for each in self.found if each.name == name), None)
        if skill is None:
            there = ", ".join(each.name for each in self.found) or say("none")
            shown = repr(escaped(name)[:64])
            return SkillText(note=say("there is no skill {name}; there are: {names}", name=shown, names=there))
        return skill.load()


def find_skills(places: Sequence[TextFolder], seen: Mapping[str, str]) -> Skills:
    """`places` begin with the nearest. `seen` has the digests of the texts that the person trusts in the folder."""
    return Skills(*gather("skills", places, seen, skill_texts, _folder_name, _skill))


def skill_texts(place: TextFolder, notes: list[str]) -> Iterator[FoundText]:
    """Every SKILL.md of a place that can be read, whether it is a valid skill or not."""
    try:
        folders = [path for path, is_folder in list_place(place) if is_folder]
    except BadInput as refused:
        notes.append(str(refused))
        return
    if len(folders) > MOST_TEXTS:
        where = display_path(place.path)
        notes.append(say("{path} has more than {count} skills; the rest is not used", path=where, count=MOST_TEXTS))
    for folder in folders[:MOST_TEXTS]:
        try:
            yield read_text(place, os.path.join(folder, FILE), folder)
        except BadInput as refused:
            notes.append(str(refused))


def _folder_name(_: TextFolder, path: str) -> str:
    return os.path.basename(os.path.dirname(path))


def _skill(place: TextFolder, text: FoundText) -> Skill:
    head = read_front_matter(text.decoded())
    return Skill(
        name=_name(head, text),
        description=_description(head),
        file=text.path,
        place=place,
        allowed_tools=tuple(map(escaped, head.texts("allowed-tools"))),
        by_name_only=head.flag("disable-model-invocation"),
        digest=text.digest if text.key else "",
    )


def _name(head: FrontMatter, text: FoundText) -> str:
    """Some authors write a title as the `name`; then the name of the folder is used."""
    names = (head.text("name"), os.path.basename(os.path.dirname(text.path)))
    name = next((each for each in names if _NAME.fullmatch(each)), None)
    if name is None:
        raise BadInput("its name may contain only letters, digits and . _ -, and at most 64 characters")
    return name


def _description(head: FrontMatter) -> str:
    """The description on one line, since it is shown in a list."""
    description = escaped(" ".join(head.text("description").split()))
    if not description:
        raise BadInput("it needs a description, which says what it is for and when to use it")
    cut = len(description) > _DESCRIPTION_CHARS
    return f"{description[: _DESCRIPTION_CHARS - 1]}…" if cut else description
