"""The notes for the model (environment, mode, skills, changed files, todos, hooks), and which of them are new."""

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from msgspec import Struct

from coderelay.agents.native.prompt.project_instructions import instruction_notes
from coderelay.agents.native.prompt.system_prompt import READS_ONLY
from coderelay.models.model_card import SMALL_CONTEXT
from coderelay.protocol.calls import Seen
from coderelay.protocol.events import MessageAdded
from coderelay.protocol.message_content import Note
from coderelay.protocol.modes import mode_spec
from coderelay.protocol.query_results import Item, SkillShown, SubagentShown
from coderelay.protocol.session_setting_values import Mode
from coderelay.protocol.tool_specs import first_sentence
from coderelay.session.background_command_events import background_topic, end_topic, status_text
from coderelay.session.state import BackgroundCommand, State, is_list, items_of, last_list
from coderelay.workspace.files.confined_files import ConfinedFiles
from coderelay.workspace.trees.repository_root_and_branch import branch_in, root_of

_LOOKED_AT = 200  # only the most recently read files
TOPIC = "skills"
GIVEN = "instructions"
_SHARE = 0.16  # bytes for each token of the window, which is a twenty-fifth of the window
_SHORTEST = 60
_OFFER = "Instructions for certain kinds of work. If one fits what is asked, load it with skill before you begin."
_GONE = "<skills>The skills you were told of are not there any more.</skills>"
_FILES_NAMED = 60
AGENTS = "agents"
_TASK_OFFER = "Agents for certain kinds of tasks. If one fits, name it as the subagent_type when you call task."
_NO_AGENTS = "<agents>The agents you were told of are not there any more.</agents>"
_STEPS = 10  # steps without a change of the todo list before a reminder


class Offered(Struct, frozen=True):
    """The skills that the model may choose from, and the subagents that it may give tasks to by name."""

    skills: tuple[SkillShown, ...] = ()
    subagents: tuple[SubagentShown, ...] = ()


def current_notes(state: State, disk: ConfinedFiles, home: str, window: int, offered: Offered) -> list[Note]:
    """All notes that hold now. `window` is the model's context window in tokens; a small window gets short notes."""
    settings = state.settings
    assert settings is not None
    repository = root_of(disk.root)
    small = window <= SMALL_CONTEXT
    return [
        environment_note(settings.cwd, settings.folders, repository, small=small),
        *(_file_notes(disk.root, state) if small else ()),
        *instruction_notes(disk.root, home, state.seen, window, repository),
        *given_notes(settings.instructions, state.told),
        *_skill_notes(offered.skills, state.told, window),
        *subagent_notes(offered.subagents, state.told, window),
        mode_note(settings.mode, small=small, child=settings.parent is not None),
        *change_notes(state.seen, disk),
        *todo_notes(state),
        *background_notes(state),
        *hook_notes(state),
    ]


def _file_notes(root: str, state: State) -> list[Note]:
    """The names of the files, for a small model, once in a session, because it seldom lists them itself. They are not
    sent between a result and the next call, where they would distract it."""
    if "files" in state.told or (state.turn is not None and state.turn.steps):
        return []
    from coderelay.tools.search.file_walk import Walk  # most models are not small

    try:
        names = [each.path for each in islice(Walk(os.path.realpath(root)), _FILES_NAMED + 1)]
    except OSError:
        return []
    more = ["(and more)"] if len(names) > _FILES_NAMED else []
    return [Note("files", "\n".join(["<files>", *names[:_FILES_NAMED], *more, "</files>"]))] if names else []


def given_notes(instructions: str, told: Mapping[str, str]) -> list[Note]:
    """What the person wants the model to be told in this session (`--append-system-prompt`)."""
    if not instructions and GIVEN not in told:
        return []
    text = instructions or "The instructions that you were given for this session no longer hold."
    return [Note(GIVEN, f"<instructions>\n{text}\n</instructions>")]


def _skill_notes(skills: Sequence[SkillShown], told: Mapping[str, str], window: int) -> list[Note]:
    if not skills and "skills" not in told:
        return []

    return skill_notes(skills, told, window)


def new_notes(notes: Iterable[Note], told: Mapping[str, str]) -> list[Note]:
    """The notes that the model has not been told yet, or was told with another text."""
    return [note for note in notes if told.get(note.topic) != note.text]


def background_notes(state: State) -> list[Note]:
    news = [each for each in state.background.values() if not each.old and _topic(each) not in state.told]
    return [Note(_topic(each), f"<background>{status_text(each)}.</background>") for each in news]


def _topic(command: BackgroundCommand) -> str:
    return background_topic(command.id) if command.end is None else end_topic(command.id)


def change_notes(seen: Mapping[str, str], disk: ConfinedFiles) -> list[Note]:
    recent = list(seen.items())[-_LOOKED_AT:]
    return [_changed(path, disk) for path, mark in recent if disk.has_changed(Seen(path, mark))]


def _changed(path: str, disk: ConfinedFiles) -> Note:
    now = (
        "has changed since you read it; read it again before you rely on it" if disk.fingerprint(path) else "is gone"
    )
    return Note(f"file:{path}", f"<file-changed>{disk.relative(path)} {now}.</file-changed>")


def environment_note(cwd: str, folders: Sequence[str], repository: str | None, *, small: bool) -> Note:
    """A `small` model is not told where it is, nor of git: it would write the whole path into every call, and add
    files to git that it should mend."""
    system = os.uname()
    lines = [
        *(() if small else [f"Working folder: {cwd}"]),
        *(f"Also at hand: {folder}" for folder in folders),
        *(() if small else [f"System: {system.sysname} {system.release} ({system.machine})"]),
        f"Date: {time.strftime('%Y-%m-%d')}",
        *(() if small else [f"Git: {branch_in(repository) if repository is not None else 'not a repository'}"]),
    ]
    return Note("environment", "\n".join(["<environment>", *lines, "</environment>"]))


def hook_notes(state: State) -> list[Note]:
    notes: list[Note] = []
    if state.environment is not None and state.environment.told:
        notes.append(Note("hook:environment", f"<hook>{state.environment.told}</hook>"))
    if state.turn is not None and state.turn.prolonged:
        text = f"The turn is not over yet. {state.turn.prolonged}"
        notes.append(Note(f"hook:{state.turn.started.turn_id}", f"<hook>{text}</hook>"))
    return notes


def mode_note(mode: Mode, *, small: bool, child: bool) -> Note:
    """The note about the mode; only its first sentence for a `small` model. A `child` works for another agent, so
    nobody waits for its plan."""
    text = READS_ONLY if child and mode == "plan" else mode_spec(mode).prompt
    return Note("mode", f"<mode>{first_sentence(text) if small else text}</mode>")


def skill_notes(skills: Sequence[SkillShown], told: Mapping[str, str], window: int) -> list[Note]:
    if not skills:
        return [Note(TOPIC, _GONE)] if TOPIC in told else []
    most = max(_SHORTEST, int(window * _SHARE) // len(skills))
    lines = [f"- {each.name}: {_cut(each.description, most)}" for each in skills]
    return [Note(TOPIC, "\n".join(["<skills>", _OFFER, *lines, "</skills>"]))]


def subagent_notes(subagents: Sequence[SubagentShown], told: Mapping[str, str], window: int) -> list[Note]:
    if not subagents:
        return [Note(AGENTS, _NO_AGENTS)] if AGENTS in told else []
    most = max(_SHORTEST, int(window * _SHARE) // len(subagents))
    lines = [f"- {each.name}: {_cut(each.description, most)}" for each in subagents]
    return [Note(AGENTS, "\n".join(["<agents>", _TASK_OFFER, *lines, "</agents>"]))]


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def todo_notes(state: State) -> list[Note]:
    """A reminder of open todos. It is repeated only after the list has been unchanged for another _STEPS steps."""
    items, steps = last_todos(state)
    open_items = [each for each in items if each.status != "completed"]
    if not open_items or steps < _STEPS:
        return []
    times = steps // _STEPS
    text = f"{len(open_items)} items of the todo list are open and it has not changed for {times * _STEPS} steps"
    topic = f"todo:{sum(map(is_list, state.calls.values()))}"  # each new list has a topic of its own
    return [Note(topic, f"<reminder>{text}. Bring it up to date if the work has moved on.</reminder>")]


def last_todos(state: State) -> tuple[tuple[Item, ...], int]:
    """The todo list, and the number of steps since it was set or, if that is later, since the history was
    compacted."""
    last = last_list(state)
    if last is None:
        return (), 0
    steps = 0
    for entry in reversed(state.history):
        if isinstance(entry, MessageAdded):
            if entry.message_id == last.batch_id:
                break
            steps += 1
    return items_of(last.call), steps
