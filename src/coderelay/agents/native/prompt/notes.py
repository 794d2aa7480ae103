"""What the model must know, and of that what it must be told now: what it does not know yet, or knows otherwise."""

from collections.abc import Iterable, Mapping, Sequence

from coderelay.agents.native.prompt.background import background_notes
from coderelay.agents.native.prompt.changes import change_notes
from coderelay.agents.native.prompt.environment import environment_note
from coderelay.agents.native.prompt.hooks import hook_notes
from coderelay.agents.native.prompt.instructions import instruction_notes
from coderelay.agents.native.prompt.modes import mode_note
from coderelay.agents.native.prompt.todos import todo_notes
from coderelay.protocol.content import Note
from coderelay.protocol.session_info import SkillShown
from coderelay.session.state import State
from coderelay.workspace.files.disk import Disk


def what_counts(state: State, disk: Disk, home: str, window: int, skills: Sequence[SkillShown]) -> list[Note]:
    """`window` is how many tokens the model takes: little room gets little to read."""
    settings = state.settings
    assert settings is not None
    return [
        environment_note(settings.cwd, settings.folders),
        *instruction_notes(disk.root, home, state.seen, window),
        *_skill_notes(skills, state.told, window),
        mode_note(settings.mode, child=settings.parent is not None),
        *change_notes(state.seen, disk),
        *todo_notes(state),
        *background_notes(state),
        *hook_notes(state),
    ]


def _skill_notes(skills: Sequence[SkillShown], told: Mapping[str, str], window: int) -> list[Note]:
    if not skills and "skills" not in told:
        return []
    from coderelay.agents.native.prompt.skills import skill_notes  # most people have none

    return skill_notes(skills, told, window)


def news(notes: Iterable[Note], told: Mapping[str, str]) -> list[Note]:
    return [note for note in notes if told.get(note.topic) != note.text]
