"""Runs the person's own shell commands (`!`): in their environment, without a sandbox or a time limit."""

import os

from coderelay.config.settings import Settings
from coderelay.host.host_context import HostContext
from coderelay.host.turn_lent_to_agent import AgentTurn
from coderelay.protocol.calls import Call, CommandEnd, Failed, Finished
from coderelay.protocol.errors import BadInput
from coderelay.protocol.translatable import say
from coderelay.session.next_action import Finish, RunCall
from coderelay.workspace.processes.command_result_and_errors import CannotStart, ProcessesLost
from coderelay.workspace.processes.command_result_and_errors import FinishedCommand as Ended
from coderelay.workspace.processes.environment import own_environment
from coderelay.workspace.processes.find_program import find_program


class PersonShell:
    """The runner of shell turns, in the place of an agent."""

    def __init__(self, context: HostContext) -> None:
        self._context = context

    async def run(self, turn: AgentTurn) -> None:
        while True:
            match turn.next_action():
                case RunCall(call_id):
                    await turn.perform([turn.state.calls[call_id].call], lambda call: self._effect(turn, call))
                case Finish():
                    await turn.finish()
                case _:
                    return

    async def _effect(self, turn: AgentTurn, call: Call) -> Finished | Failed:
        command, cwd = turn.state.calls[call.id].judged.need.command, turn.settings.cwd
        env = own_environment(os.environ)  # without variables imported from other programs' files
        shell = find_program("bash", env.get("PATH", ""), ()) or "/bin/bash"
        try:
            ended = await self._context.processes.run(
                [shell, "-c", command or ""],
                cwd=cwd,
                env=env,
                seconds=None,
                output_bytes=self._output_bytes(cwd),
                separate_stderr=True,
                on_output=turn.listener(call.id),
            )
        except CannotStart as error:
            return Failed(
                say("the command could not be started: {why}", why=error), end=CommandEnd(cause="not started")
            )
        except ProcessesLost:
            return Failed(
                "the command was lost: it may have run; check before repeating it", end=CommandEnd(cause="lost")
            )
        return _finished(ended)

    def _output_bytes(self, cwd: str) -> int:
        """How many bytes are kept of a command's output, and as many of its errors. If the configuration is wrong,
        the default applies: the command may be there to mend it."""
        try:
            return self._context.folders.of(cwd).settings.bash.output_bytes
        except BadInput:
            return Settings().bash.output_bytes


def _finished(ended: Ended) -> Finished:
    """The result of a command. A signal becomes the exit code 128 + n, as in shells."""
    code = ended.exit_code if ended.exit_code is not None else 128 + (ended.signal or 0)
    return Finished(
        output=ended.output.rstrip("\n"),
        errors=ended.errors.rstrip("\n"),
        exit_code=code,
        summary=say("exit code {code}, {seconds} s", code=code, seconds=f"{ended.seconds:.1f}"),
    )
