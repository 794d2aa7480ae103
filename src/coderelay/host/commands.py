"""Carries out commands: the session package decides which events follow, and this module appends them."""

from coderelay.host.can_run import folder_exists
from coderelay.host.record import Decide, Record
from coderelay.protocol.commands import (
    Accepted,
    AnswerAsk,
    Answered,
    ClearHistory,
    Command,
    CompactHistory,
    ConfigureSession,
    CreateSession,
    DeleteSession,
    EditPrompt,
    OpenSession,
    Outcome,
    RecallPrompt,
    RevokeApproval,
    RunShell,
    SendPrompt,
    StopBackground,
    StopTurn,
    Unchanged,
    UndoTurn,
    WriteSnapshot,
)
from coderelay.protocol.errors import BadInput
from coderelay.protocol.translatable import say
from coderelay.session import decide


async def carry_out(record: Record, command: Command) -> Outcome:
    match command:
        case CreateSession():
            _check_folders(command.cwd, *command.folders)
            return await _write(record, lambda state: decide.create(state, command))
        case ConfigureSession():
            _check_folders(*(command.folders or ()))
            return await _write(record, lambda state: decide.configure(state, command))
        case SendPrompt():
            return await _write(record, lambda state: decide.send_prompt(state, command))
        case EditPrompt():
            return await _write(record, lambda state: decide.edit_prompt(state, command))
        case RunShell():
            return await _write(record, lambda state: decide.run_shell(state, command))
        case CompactHistory():
            return await _write(record, lambda state: decide.compact(state, command))
        case ClearHistory():
            return await _write(record, lambda state: decide.clear(state, command))
        case RecallPrompt():
            return await _write(record, lambda state: decide.recall_prompt(state, command))
        case StopTurn():
            return await _write(record, lambda state: decide.stop(state, command))
        case DeleteSession():
            return await _write(record, lambda state: decide.delete(state, command))
        case AnswerAsk():
            return await _answer(record, command)
        case RevokeApproval():
            return await _write(record, lambda state: decide.revoke(state, command))
        case UndoTurn() | StopBackground() | WriteSnapshot():
            raise AssertionError("the host does this one itself")
        case OpenSession():
            decide.require(record.state)
            return Unchanged(record.state.head)


def _check_folders(*folders: str) -> None:
    for folder in folders:
        if not folder_exists(folder):
            raise BadInput(say("there is no folder {folder}", folder=folder))


async def _write(record: Record, decision: Decide) -> Outcome:
    written = await record.append(decision)
    return Accepted(record.state.head) if written else Unchanged(record.state.head)


async def _answer(record: Record, command: AnswerAsk) -> Outcome:
    outcome = await _write(record, lambda state: decide.answer(state, command))
    if isinstance(outcome, Accepted):
        return outcome
    decision, by = decide.recorded_answer(record.state, command)
    return Answered(decision, by, record.state.head)
