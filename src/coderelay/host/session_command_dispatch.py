"""Carries out commands: the session package decides which events follow, and this module appends them."""

from collections.abc import Sequence
from contextlib import suppress

from coderelay.client.client import NO_CAPABILITIES, Capabilities
from coderelay.host.can_run import check_folder, is_on_other_machine, require_machine
from coderelay.host.host_context import HostContext
from coderelay.host.loaded_session import Decide, LoadedSession
from coderelay.host.tool_list_intersection import tools_in_both
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
    ForkSession,
    MoveSession,
    OpenSession,
    Outcome,
    RecallPrompt,
    RevokeApproval,
    RunShell,
    SendPrompt,
    SetSetting,
    StopBackground,
    StopTurn,
    TrustFolder,
    Unchanged,
    UndoTurn,
    WriteSnapshot,
)
from coderelay.protocol.errors import BadInput
from coderelay.protocol.events import AnyEvent
from coderelay.protocol.ids import AskId
from coderelay.protocol.session_setting_values import Preset
from coderelay.protocol.translatable import say
from coderelay.session import decide
from coderelay.session.settings_change_timing import Facts, configure
from coderelay.session.state import State

_BY_HOST = "the host does this one itself"


async def carry_out(
    loaded: LoadedSession,
    command: Command,
    context: HostContext,
    capabilities: Capabilities = NO_CAPABILITIES,
    *,
    has_own_session_ids: bool = False,
) -> Outcome:
    """`has_own_session_ids`: the session's agent, or the one that the command chooses, has sessions of its own."""
    match command:
        case CreateSession():
            for folder in (command.cwd, *command.folders):
                check_folder(folder)
            await _check_profile(command, context, capabilities)
            machine = context.machine.identity
            return await _write(
                loaded, lambda state: decide.create(state, command, machine, has_own_session_ids=has_own_session_ids)
            )
        case ConfigureSession():
            for folder in (*filter(None, (command.cwd,)), *(command.folders or ())):
                require_machine(decide.require(loaded.state), context)
                check_folder(folder)
            return await _write(
                loaded, lambda state: configure(state, command, _facts(state, command, context, has_own_session_ids))
            )
        case SendPrompt():
            return await _write(
                loaded, lambda state: decide.send_prompt(state, command, has_own_session_ids=has_own_session_ids)
            )
        case EditPrompt():
            return await _write(
                loaded, lambda state: decide.edit_prompt(state, command, may_run_shell=capabilities.shell)
            )
        case RunShell():
            if not capabilities.shell:
                raise BadInput(decide.NO_SHELL)
            return await _write(loaded, lambda state: decide.run_shell(state, command))
        case CompactHistory():
            return await _write(loaded, lambda state: decide.compact(state, command))
        case ClearHistory():
            return await _write(loaded, lambda state: decide.clear(state, command))
        case RecallPrompt():
            return await _write(loaded, lambda state: decide.recall_prompt(state, command))
        case StopTurn():
            return await _write(loaded, lambda state: decide.stop(state, command))
        case DeleteSession():
            return await _write(loaded, lambda state: decide.delete(state, command))
        case AnswerAsk():
            return await answer(loaded, command)
        case RevokeApproval():
            return await _write(loaded, lambda state: decide.revoke(state, command))
        case UndoTurn() | StopBackground() | WriteSnapshot() | MoveSession() | ForkSession():
            raise AssertionError(_BY_HOST)
        case SetSetting() | TrustFolder():
            raise AssertionError(_BY_HOST)
        case OpenSession():
            decide.require(loaded.state)
            return Unchanged(loaded.state.head)


async def _check_profile(command: CreateSession, context: HostContext, capabilities: Capabilities) -> None:
    """Raises BadInput if nobody gave the client the profile. A child may have that of its parent."""
    if command.profile in ("", capabilities.profile):
        return
    parent = None if command.parent is None else (await context.sessions.load(command.parent)).state.settings
    if parent is None or parent.profile != command.profile:
        raise BadInput(say("this client may not start sessions with the profile {profile}", profile=command.profile))


def _facts(state: State, command: ConfigureSession, context: HostContext, has_own_session_ids: bool) -> Facts:
    """On another machine the session's folder may have another preset, which nobody here knows."""
    preset: Preset = "balanced"
    is_here = not is_on_other_machine(state.settings, context)
    if command.when == "next_turn" and state.settings is not None and is_here:
        with suppress(BadInput):  # wrong configuration: then no turn runs, so nothing must be tightened
            preset = context.folders.of(state.settings.cwd).settings.permissions.preset
    return Facts(preset, tools_in_both, has_own_session_ids)


async def _write(loaded: LoadedSession, decision: Decide) -> Outcome:
    written = await loaded.append(decision)
    return Accepted(loaded.state.head) if written else Unchanged(loaded.state.head)


async def answer(
    loaded: LoadedSession, command: AnswerAsk, kept: Sequence[AnyEvent] = (), covered: Sequence[AskId] = ()
) -> Outcome:
    """Answer an ask, and in the same append those that this answer covers, with what is `kept` of it."""
    outcome = await _write(loaded, lambda state: decide.answer_for_more(state, command, kept, covered))
    if isinstance(outcome, Accepted):
        return outcome
    decision, by = decide.recorded_answer(loaded.state, command)
    return Answered(decision, by, loaded.state.head)
