"""Verification of a turn's work: decides whether a check is due, proposes it, runs it and draws the conclusion.

Each step is computed from the log, so that any process can go on. The check is a bash call that the model did not
propose; it is judged, asked about, recorded and run like any other call.
"""

import os
from collections.abc import Callable, Iterable

import msgspec
from msgspec import Struct

from coderelay.agents.native.native_settings import VerificationSettings, WorkflowSettings
from coderelay.agents.native.workflow.message_texts import (
    Reason,
    best_effort,
    failing_as_before,
    not_run,
    passed,
    repair_prompt,
    still_failing,
    workflow_message,
)
from coderelay.agents.native.workflow.project_test_command import ProjectFiles, ProjectFolder, infer_command
from coderelay.agents.native.workflow.verification_command_choice import COMMANDS, CheckCommand, choose_command
from coderelay.agents.native.workflow.verification_failure_cause import (
    CheckRun,
    Trouble,
    environment_failure_of,
    failed_before,
    failed_tests,
    run_of,
)
from coderelay.agents.native.workflow.verify_intent_in_prompt import verify_intent
from coderelay.agents.turn import Turn
from coderelay.protocol.calls import Call, Denied, Failed, Finished, Need, Unknown
from coderelay.protocol.events import MessageAdded, Verification
from coderelay.protocol.ids import CallId, new_id
from coderelay.protocol.message_content import text_of
from coderelay.protocol.session_setting_values import Mode
from coderelay.protocol.translatable import say
from coderelay.session.state import CallState, Entry
from coderelay.tools.builtin_tools import SPECS
from coderelay.tools.toolbox import Toolbox
from coderelay.workspace.workspace import Workspace

BASH = "bash"
_DOCUMENTS = (".md", ".markdown", ".mdx", ".rst", ".adoc")


class CheckArguments(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The arguments of a check: those of bash, and the folder it runs in. The folder is a separate field, so that its
    name never becomes part of a command."""

    command: str
    folder: str = ""


class Skip(Struct, frozen=True):
    """A check is due but is left out; people are told the reason."""

    reason: Reason


class Verify(Struct, frozen=True):
    choice: CheckCommand


class TurnWork(Struct, frozen=True):
    """The work of a turn so far. `prompts` are the person's, `edited` the changed files, relative to the session's
    folder, and `runs` the number of checks so far. `bash` is false if the tool is missing or not allowed."""

    mode: Mode
    prompts: tuple[str, ...]
    edited: tuple[str, ...]
    runs: int = 0
    bash: bool = True


class VerificationAfterEdits:
    def __init__(self, turn: Turn, toolbox: Toolbox, workspace: Workspace, settings: WorkflowSettings) -> None:
        self._turn = turn
        self._toolbox = toolbox
        self._workspace = workspace
        self._settings = settings

    def due(self) -> Verify | Skip | None:
        return verification_due(self._work(), self._settings.verification, ProjectFiles(self._workspace.disk))

    async def go_on(self) -> None:
        """Called when the model proposes no more calls: start the check, or report the result of the last one."""
        last = self._turn.state.history[-1]
        if isinstance(last, MessageAdded) and last.author == "workflow" and last.calls:
            await self._conclude(self._turn.state.calls[last.calls[0].id])
            return
        match self.due():
            case Verify(choice):
                await self._propose(choice)
            case Skip(reason):
                await self._end_once("not_run", not_run(reason, self._settings.language))
            case None:
                await self._turn.finish()

    async def run(self, call: Call) -> Finished | Failed:
        arguments = msgspec.json.decode(call.arguments, type=CheckArguments)
        if arguments.command not in COMMANDS:
            return Failed(say("{command} is not on the list of checks", command=arguments.command))
        folder = os.path.join(self._workspace.root, arguments.folder)
        return await self._toolbox.run(_as_bash(call.id, arguments), self._workspace.at(folder))

    async def _propose(self, choice: CheckCommand) -> None:
        arguments = CheckArguments(choice.command, choice.folder)
        call = Call(CallId(f"call_{new_id()}"), BASH, msgspec.json.encode(arguments).decode())
        await self._turn.add(workflow_message(self._turn.id, calls=(call,)), [self._need(call, choice)], final=False)

    def _need(self, call: Call, choice: CheckCommand) -> Need:
        need = self._toolbox.need(_as_bash(call.id, CheckArguments(choice.command)), self._workspace)
        if not choice.folder:
            return need
        return msgspec.structs.replace(need, title=f"{need.title}  (in {choice.folder})", folder=choice.folder)

    async def _conclude(self, check: CallState) -> None:
        assert check.outcome is not None
        command = msgspec.json.decode(check.call.arguments, type=CheckArguments).command
        language, work = self._settings.language, self._work()
        if isinstance(check.outcome, Denied):
            await self._end("not_run", not_run("not allowed", language))
            return
        match after_run(run_of(check.outcome), command, work, self._settings.verification, self._before(command)):
            case Passed():
                await self._end("passed", passed(command, language))
            case Repair(broken, before):
                words = repair_prompt(command, language, broken, before)
                await self._turn.add(workflow_message(self._turn.id, words), [], final=False)
            case FailedBefore(before):
                await self._end("failed", failing_as_before(command, before, language))
            case StillFailing():
                await self._end("failed", still_failing(command, work.runs, language))
            case CannotTell(trouble):
                await self._end("inconclusive", best_effort(command, trouble, language))

    def _before(self, command: str) -> frozenset[str]:
        state = self._turn.state
        assert state.turn is not None
        return failed_before(state.calls.values(), [state.calls[each] for each in state.turn.calls], command)

    async def _end_once(self, verification: Verification, words: str) -> None:
        """End the turn, and tell the person why nothing was checked, unless the session has told them before."""
        if any(_says(entry, words) for entry in self._turn.state.history):
            await self._turn.finish()
        else:
            await self._end(verification, words)

    async def _end(self, verification: Verification, words: str) -> None:
        await self._turn.add(workflow_message(self._turn.id, words, verification=verification), [], final=True)

    def _work(self) -> TurnWork:
        state, settings = self._turn.state, self._turn.settings
        assert state.turn is not None
        calls = [state.calls[call_id] for call_id in state.turn.calls]
        here = any(spec.name == BASH for spec in self._toolbox.specs)
        return TurnWork(
            mode=settings.mode,
            prompts=(state.turn.started.typed_text, *state.turn.taken),
            edited=edited_in(calls, self._workspace.disk.relative),
            runs=sum(1 for each in calls if each.author == "workflow" and each.call.name == BASH),
            bash=here and SPECS.is_allowed(BASH, settings.enforced_tools),
        )


def _says(entry: Entry, words: str) -> bool:
    return isinstance(entry, MessageAdded) and entry.author == "workflow" and text_of(entry.blocks) == words


def _as_bash(call_id: CallId, arguments: CheckArguments) -> Call:
    return Call(call_id, BASH, msgspec.json.encode({"command": arguments.command}).decode())


def verification_due(work: TurnWork, settings: VerificationSettings, files: ProjectFolder) -> Verify | Skip | None:
    """The check to run, or the reason to skip it. None if there is nothing to check, or nothing to say about it."""
    if not settings.enabled or not work.bash or work.runs >= settings.max_verification_runs or work.mode == "plan":
        return None
    code = [path for path in work.edited if not is_document(path)]
    wish = verify_intent(work.prompts)
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
    """The model must repair the work, which is then checked again. `broken` are the tests that the edits broke, if
    others failed `before` them."""

    broken: frozenset[str] = frozenset()
    before: frozenset[str] = frozenset()


class FailedBefore(Struct, frozen=True):
    """Only tests fail that failed before the edits: the work is not to blame, and verification ends."""

    before: frozenset[str]


class StillFailing(Struct, frozen=True):
    """The check failed, and no further run is allowed."""


class CannotTell(Struct, frozen=True):
    """The machine is to blame, not the work: people get a warning, and verification ends."""

    trouble: Trouble


def after_run(
    run: CheckRun,
    command: str,
    work: TurnWork,
    settings: VerificationSettings,
    before: frozenset[str] = frozenset(),
) -> Passed | Repair | FailedBefore | StillFailing | CannotTell:
    """What follows from a run of the check. `work.runs` includes this run. `before` are the tests that failed before
    the turn's first edit."""
    if run.ended == 0:
        return Passed()
    trouble = environment_failure_of(run, command, work.edited)
    if trouble is not None:
        return CannotTell(trouble)
    failed = failed_tests(run.output)
    if failed and failed <= before:
        return FailedBefore(failed)
    if work.runs >= settings.max_verification_runs:
        return StillFailing()
    return Repair(failed - before, failed & before) if failed & before else Repair()


def edited_in(calls: Iterable[CallState], relative: Callable[[str], str]) -> tuple[str, ...]:
    """The files that calls of write, edit or patch have changed, or may have changed if they were interrupted."""
    paths = [
        relative(path)
        for each in calls
        if each.judged.need.kind == "edit" and isinstance(each.outcome, Finished | Unknown)
        for path in each.judged.need.paths
    ]
    return tuple(dict.fromkeys(paths))
