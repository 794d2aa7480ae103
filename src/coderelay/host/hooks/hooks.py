"""Runs the hooks of a folder at certain points of a turn, and applies their answers.

    event             runs when                       its answer can
    PreToolUse        a call is judged                deny it, or ask the person; once for each call
    PostToolUse       a call has succeeded            tell the model something; once for each call
    Stop              the model has nothing more      make it go on, once in a turn
    SubagentStop      the same in a child session
    SetUpEnvironment  the first turn begins           set variables for commands, tell the model something

A hook's approval allows nothing that is forbidden without it. A hook that fails is reported and changes nothing,
unless it is required.
"""

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from coderelay.agents.turn import Turn
from coderelay.config.settings import HookEvent
from coderelay.host.ask_about_call import ask_about
from coderelay.host.hooks import hook_input
from coderelay.host.hooks.configured_hook import Configured, Hook, Run
from coderelay.host.hooks.hook_output import HookOutput, parse_hook_output, split_allowed
from coderelay.policy.secrets.masking import Secrets
from coderelay.protocol.calls import Call, Finished, Need
from coderelay.protocol.events import EnvironmentSetUp, Judged, MessageAdded
from coderelay.protocol.live_updates import Notice
from coderelay.protocol.message_content import text_of
from coderelay.protocol.translatable import join_texts, say, with_template
from coderelay.session.state import State
from coderelay.workspace.processes.command_runner import CannotStart, Processes, ProcessesLost
from coderelay.workspace.processes.environment import person_environment
from coderelay.workspace.processes.run_with_input import run_with_input

_AT_ONCE = 8
T = TypeVar("T")
_OUTPUT_BYTES = 256 * 1024


class _HookAnswer(Struct, frozen=True):
    """What one hook answered. `trouble` counts as a denial if the hook is required; otherwise it is only reported."""

    hook: Hook
    output: HookOutput

    @property
    def denies(self) -> bool:
        return self.output.verdict == "deny" or (self.hook.required and bool(self.output.trouble))

    @property
    def words(self) -> str:
        return say("hook {name}: {problem}", name=self.hook.name, problem=self.output.reason or self.output.trouble)


class Hooks:
    """The hooks of one folder. At most `_AT_ONCE` of them run at the same time."""

    def __init__(self, configured: Configured, run: Run, secrets: Secrets) -> None:
        self._configured = configured
        self._run = run
        self._secrets = secrets
        self._room = asyncio.Semaphore(_AT_ONCE)

    async def run_pre_tool_hooks(
        self, turn: Turn, calls: Sequence[Call], judged: Sequence[Judged]
    ) -> tuple[Judged, ...]:
        """The verdicts on the calls of a message, tightened by hooks. Hooks are not asked about calls already
        denied."""
        pairs = zip(calls, judged, strict=True)
        return tuple(await _gather([self._with_hook_verdicts(turn, call, verdict) for call, verdict in pairs]))

    async def run_post_tool_hooks(self, turn: Turn, call: Call, need: Need, finished: Finished) -> Finished:
        """The result of a call that succeeded, with what hooks want the model to be told of it."""
        shown = replace(finished, output=self._secrets.hide(finished.output))
        about = hook_input.of_call(call, need) | hook_input.of_result(shown)
        answers = await self._run_hooks("PostToolUse", turn, about, call.name, need.plain)
        told = [text for each in answers if (text := _feedback(each))]
        return replace(finished, feedback="\n".join(told)) if told else finished

    async def run_stop_hooks(self, turn: Turn, message: MessageAdded | None) -> str:
        """The reasons of hooks against ending the turn with this message; usually none."""
        open_turn = turn.state.turn
        assert open_turn is not None
        about: hook_input.Fields = {"stop_hook_active": bool(open_turn.prolonged)}
        if (last := _last_model_message(turn.state, message)) is not None:
            about |= {"stop_reason": last.stop_reason, "last_assistant_message": text_of(last.blocks)}
        answers = await self._run_hooks(_ending(turn.state), turn, about)
        return join_texts("\n", [each.words for each in answers if each.output.verdict == "deny"])

    async def set_up(self, turn: Turn) -> EnvironmentSetUp | None:
        """What the setup hooks provide. None if there is nothing to record: there is no such hook, or one failed and
        may be tried again."""
        answers = await self._run_hooks("SetUpEnvironment", turn, {})
        if not answers or any(each.output.trouble or each.output.verdict for each in answers):
            return None
        variables: dict[str, str] = {}
        for each in answers:
            allowed, refused = split_allowed(each.output.variables, each.hook.variables, self._secrets)
            variables |= allowed
            for name, why in refused.items():
                problem = say("{name} is not set: {problem}", name=repr(name), problem=why)
                turn.show(Notice(say("hook {name}: {problem}", name=each.hook.name, problem=problem)))
        told = "\n".join(filter(None, (each.output.context or each.output.plain for each in answers)))
        return EnvironmentSetUp(turn_id=turn.id, variables=variables, told=told)

    async def _with_hook_verdicts(self, turn: Turn, call: Call, judged: Judged) -> Judged:
        need = judged.need
        if judged.verdict == "deny" or need.problem is not None:
            return judged
        answers = await self._run_hooks("PreToolUse", turn, hook_input.of_call(call, need), call.name, need.plain)
        denials = [each.words for each in answers if each.denies]
        if denials:
            return replace(judged, verdict="deny", reason=join_texts("; ", denials), ask=None)
        against = [each for each in answers if each.output.verdict or each.output.trouble]
        reason = join_texts("; ", [with_template(judged.reason, judged.said), *(each.words for each in against)])
        if judged.verdict == "ask" or any(each.output.verdict == "ask" for each in against):
            ask = ask_about(turn.state, call, judged.need, reason, "hook") if against else judged.ask
            return replace(judged, verdict="ask", reason=reason, ask=ask)
        return replace(judged, reason=reason)

    async def _run_hooks(
        self, event: HookEvent, turn: Turn, about: hook_input.Fields, *tool: str
    ) -> list[_HookAnswer]:
        """Run all hooks for this event at the same time; returns the answers in the order of the configuration.
        `tool` holds the names of the tool, of which there may be two."""
        meant = [each for each in self._configured.get(event, ()) if not tool or each.is_for(*tool)]
        if not meant:
            return []
        told = hook_input.in_json(hook_input.of_session(event, turn.state) | about)
        answers = await _gather([self._run_one(event, hook, told, turn) for hook in meant])
        for each in answers:
            self._show_notices(turn, each)
        return answers

    async def _run_one(self, event: HookEvent, hook: Hook, told: bytes, turn: Turn) -> _HookAnswer:
        async with self._room:
            said = await self._run(hook, told, turn.settings.cwd)
        if event == "PreToolUse" and said.unread and not said.verdict:  # it may hold a denial
            said = replace(said, trouble=said.trouble or said.unread)
        hide = self._secrets.hide
        return _HookAnswer(
            hook,
            replace(
                said,
                reason=hide(said.reason),
                context=hide(said.context),
                plain=hide(said.plain),
                notice=hide(said.notice),
                trouble=hide(said.trouble),
            ),
        )

    def _show_notices(self, turn: Turn, answer: _HookAnswer) -> None:
        if answer.output.trouble:
            turn.show(Notice(answer.words))
        if answer.output.notice:
            turn.show(Notice(say("hook {name}: {problem}", name=answer.hook.name, problem=answer.output.notice)))


def _feedback(answer: _HookAnswer) -> str:
    said = answer.output
    told = [said.reason if said.verdict else "", said.context]
    return "\n".join(say("hook {name}: {problem}", name=answer.hook.name, problem=each) for each in told if each)


def _last_model_message(state: State, message: MessageAdded | None) -> MessageAdded | None:
    """The last message of the model; the workflow may have spoken after it."""
    if message is not None and message.author == "model":
        return message
    said = (each for each in reversed(state.history) if isinstance(each, MessageAdded) and each.author == "model")
    return next(said, None)


async def _gather(work: Sequence[Coroutine[None, None, T]]) -> list[T]:
    """Run all at the same time; returns the results in the order of `work`."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(each) for each in work]
    return [task.result() for task in tasks]


def _ending(state: State) -> HookEvent:
    is_child = state.settings is not None and state.settings.parent is not None
    return "SubagentStop" if is_child else "Stop"


class HookProcesses:
    """Runs hooks as processes, in the person's environment."""

    def __init__(self, processes: Processes, environment: Mapping[str, str]) -> None:
        self._processes = processes
        self._environment = person_environment(environment)

    async def run(self, hook: Hook, told: bytes, cwd: str) -> HookOutput:
        try:
            piped = await run_with_input(
                self._processes,
                hook.command,
                told,
                cwd=cwd,
                env=self._environment | {"CODER_PROJECT_DIR": cwd, "CLAUDE_PROJECT_DIR": cwd},
                seconds=hook.seconds,
                output_bytes=_OUTPUT_BYTES,
            )
        except (CannotStart, ProcessesLost) as error:
            return HookOutput(trouble=say("it could not be run: {problem}", problem=error.reason))
        except OSError as error:
            return HookOutput(trouble=say("it could not be run: {problem}", problem=error))
        ended = piped.ended
        if ended.timed_out:
            return HookOutput(trouble=say("it did not end within {seconds} s", seconds=f"{hook.seconds:g}"))
        if ended.exit_code is None:
            return HookOutput(trouble=say("ended by signal {number}", number=ended.signal))
        if ended.omitted_bytes:
            said = parse_hook_output(ended.exit_code, "", piped.errors)
            return said if said.verdict else replace(said, trouble=said.trouble or "it wrote too much")
        return parse_hook_output(ended.exit_code, ended.output, piped.errors)
