"""Checking what a turn has changed: whether, with which command, and what follows from how it went.

The check is a command of the agent like any other: judged, recorded, run in the sandbox. Nothing here runs it.
"""

from collections.abc import Callable, Iterable

from msgspec import Struct

from coderelay.agents.native.workflow.project_type import Files, infer_command
from coderelay.agents.native.workflow.settings import VerificationSettings
from coderelay.agents.native.workflow.verify_command import Choice, choose_command
from coderelay.agents.native.workflow.verify_result import Run, Trouble, trouble_of
from coderelay.agents.native.workflow.verify_text import Reason
from coderelay.agents.native.workflow.verify_wish import wish_of
from coderelay.protocol.calls import Finished, Unknown
from coderelay.protocol.events import Mode
from coderelay.session.state import CallState

_DOCUMENTS = (".md", ".markdown", ".mdx", ".rst", ".adoc")


class Work(Struct, frozen=True):
    """A turn so far. `prompts` are the person's, `edited` the files it changed, relative to the session's folder;
    `runs` are the checks there were already. `bash` is false if the tool is missing or may not be used."""

    mode: Mode
    prompts: tuple[str, ...]
    edited: tuple[str, ...]
    runs: int = 0
    bash: bool = True


class Verify(Struct, frozen=True):
    choice: Choice


class Skip(Struct, frozen=True):
    """It would be due, and is left out: people are told."""

    reason: Reason


def verification_due(work: Work, settings: VerificationSettings, files: Files) -> Verify | Skip | None:
    """None if there is nothing to check, or nothing to say about it."""
    if not settings.enabled or not work.bash or work.runs >= settings.most_runs or work.mode == "plan":
        return None
    code = [path for path in work.edited if not is_document(path)]
    wish = wish_of(work.prompts)
    if not code or (work.mode == "default" and wish != "verify"):
        return None
    if wish == "leave out":
        return Skip("refused")
    choice = choose_command(work.prompts, settings.commands, lambda: infer_command(files, code))
    return Skip("no command") if choice is None else Verify(choice)


def is_document(path: str) -> bool:
    lower = path.lower()
    return lower.endswith(_DOCUMENTS) or lower.startswith("docs/")


class Passed(Struct, frozen=True):
    pass


class Repair(Struct, frozen=True):
    """The model is to repair the work, which is then checked again."""


class StillFailing(Struct, frozen=True):
    """The last run that was allowed."""


class CannotTell(Struct, frozen=True):
    """The machine is to blame: a warning, and the end of it."""

    trouble: Trouble


def after_run(
    run: Run, command: str, work: Work, settings: VerificationSettings
) -> Passed | Repair | StillFailing | CannotTell:
    """`work.runs` counts this run too."""
    if run.ended == 0:
        return Passed()
    trouble = trouble_of(run, command, work.edited)
    if trouble is not None:
        return CannotTell(trouble)
    return Repair() if work.runs < settings.most_runs else StillFailing()


def edited_in(calls: Iterable[CallState], relative: Callable[[str], str]) -> tuple[str, ...]:
    """The files that calls of write, edit or patch have changed, or may have when they were cut off."""
    paths = [
        relative(path)
        for each in calls
        if each.judged.need.kind == "edit" and isinstance(each.outcome, Finished | Unknown)
        for path in each.judged.need.paths
    ]
    return tuple(dict.fromkeys(paths))
