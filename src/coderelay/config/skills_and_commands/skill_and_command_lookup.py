"""The skills, custom commands and subagents of one folder: the person's own, and the folder's that the person trusts.

They are looked up anew each time, since people change them while they work; so a text that is no longer trusted is
gone at once.
"""

from collections.abc import Callable, Collection

from coderelay.config.skills_and_commands.custom_commands import CustomCommands, find_commands
from coderelay.config.skills_and_commands.skills import Skill, find_skills
from coderelay.config.skills_and_commands.subagents import Subagent, Subagents, find_subagents
from coderelay.config.skills_and_commands.trusted_text_files import TextFolder, TextKind, places_of
from coderelay.config.trust_records_file import trusted_texts
from coderelay.protocol.errors import BadInput, ToolFailed
from coderelay.protocol.query_results import (
    CommandShown,
    CommandsShown,
    SkillShown,
    SkillsShown,
    SubagentShown,
    SubagentsShown,
)
from coderelay.protocol.translatable import say


class SkillAndCommandLookup:
    """`user_home` may be empty; then the person's own texts come from coder's home folder only. `taken` returns the
    names of the built-in commands, which cannot be replaced."""

    def __init__(self, *, home: str, user_home: str, folder: str, taken: Callable[[], Collection[str]]) -> None:
        self._home = home
        self._user_home = user_home
        self._folder = folder
        self._taken = taken

    def skills(self) -> SkillsShown:
        found = find_skills(self._places("skills"), self._trusted())
        return SkillsShown(tuple(map(_shown, found.found)), found.notes, found.untrusted)

    def commands(self) -> CommandsShown:
        found, skills = self._commands(), self.skills()
        return CommandsShown(
            (
                *(CommandShown(each.name, "command", each.description, each.argument_hint) for each in found.found),
                *(CommandShown(each.name, "skill", each.description) for each in skills.found),
            ),
            (*found.notes, *skills.notes),
            (*found.untrusted, *skills.untrusted),
        )

    def untrusted(self) -> dict[str, tuple[str, ...]]:
        """The names of the texts that the person does not trust, by their kind."""
        found = {
            "commands": self._commands().untrusted,
            "skills": find_skills(self._places("skills"), self._trusted()).untrusted,
            "agents": self._subagents().untrusted,
        }
        return {kind: names for kind, names in found.items() if names}

    def expand(self, name: str, arguments: str) -> str:
        """The prompt that `/name arguments` stands for. Raises BadInput."""
        command = next((each for each in self._commands().found if each.name == name), None)
        if command is not None:
            return command.expand(arguments)
        text = self._load(name, by_name=True)
        return "\n\n".join(filter(None, (f'<skill name="{name}">\n{text}\n</skill>', arguments.strip())))

    def subagents(self) -> SubagentsShown:
        found = self._subagents()
        return SubagentsShown(
            tuple(SubagentShown(each.name, each.description, each.file, each.own) for each in found.found),
            found.notes,
        )

    def subagent(self, name: str) -> Subagent:
        """The subagent with this name, as its file is now. Raises ToolFailed."""
        found = self._subagents().found
        chosen = next((each for each in found if each.name == name), None)
        if chosen is None:
            there = ", ".join(each.name for each in found) or say("none")
            raise ToolFailed(say("there is no agent {name}; there are: {names}", name=repr(name), names=there))
        return chosen

    def load_skill(self, name: str) -> str:
        """The text of a skill that an agent chose. Raises ToolFailed."""
        try:
            return self._load(name, by_name=False)
        except BadInput as refused:
            raise ToolFailed(str(refused)) from refused

    def _load(self, name: str, *, by_name: bool) -> str:
        skills = find_skills(self._places("skills"), self._trusted())
        body = skills.load(name)
        if body.note:
            raise BadInput(body.note)
        skill = next(each for each in skills.found if each.name == name)
        if skill.by_name_only and not by_name:
            raise BadInput(say("the skill {name} can only be started by the person, with /{name}", name=name))
        return f"{body.text}\n\n(The files of this skill are in {skill.folder}.)"

    def _commands(self) -> CustomCommands:
        return find_commands(self._places("commands"), self._trusted(), self._taken())

    def _subagents(self) -> Subagents:
        return find_subagents(self._places("agents"), self._trusted())

    def _places(self, kind: TextKind) -> list[TextFolder]:
        return places_of(kind, home=self._home, user_home=self._user_home, folder=self._folder)

    def _trusted(self) -> dict[str, str]:
        return trusted_texts(self._home, self._folder)


def _shown(skill: Skill) -> SkillShown:
    return SkillShown(
        skill.name, skill.description, skill.file, own=skill.place.folder is None, by_name_only=skill.by_name_only
    )
