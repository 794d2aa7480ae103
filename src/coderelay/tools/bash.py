"""The `bash` tool: runs one shell command in the workspace, to its end or in the background."""

from collections.abc import Callable

from msgspec import Struct

from coderelay.policy.shell.requested_rights import rights_of
from coderelay.protocol.calls import CommandEnd, Finished, Need, Right
from coderelay.protocol.errors import ToolFailed
from coderelay.protocol.tool_specs import ToolSpec
from coderelay.protocol.translatable import say
from coderelay.tools.tool import CommandFailed
from coderelay.workspace.processes.command_runner import CannotStart, ProcessesLost, RunningCommand
from coderelay.workspace.processes.command_runner import FinishedCommand as Ended
from coderelay.workspace.processes.disk_space_watch import FREE_BYTES
from coderelay.workspace.processes.find_program import find_program
from coderelay.workspace.workspace import Workspace

_MOST_SECONDS = 3600
_FIRST_MOMENT = 0.2


class BashLimits(Struct, frozen=True):
    """Limits of one command. `seconds` is the timeout of a call that sets none; a command that leaves less than
    `free_bytes` free on its disk is ended."""

    seconds: float = 120
    output_bytes: int = 1 << 20
    free_bytes: int = FREE_BYTES


def usual_limits(root: str) -> BashLimits:
    return BashLimits()


class BashArguments(Struct, frozen=True, forbid_unknown_fields=True):
    command: str
    timeout: float | None = None
    background: bool = False


class Bash:
    spec = ToolSpec(
        name="bash",
        kind="command",
        description="Run a shell command in the workspace and return its output. No input is possible; "
        "whatever it leaves running is ended with it. What must go on running, such as a server, is started with "
        "background=true: that returns a number at once, bash_output shows what it has written, bash_stop ends it. "
        "Where there is a sandbox, commands run in it without network. One that needs the network begins with "
        "`CODER_NETWORK=1 `, one that must run outside of the sandbox with `CODER_SANDBOX=0 `; for each of them the "
        "person is asked.",
        parameters={
            "type": "object",
            "properties": {
                "command": {"type": "string"},
                "timeout": {"type": "number", "description": f"seconds, {_MOST_SECONDS} at most; usually 120"},
                "background": {"type": "boolean", "description": "leave it running, without a time limit"},
            },
            "required": ["command"],
            "additionalProperties": False,
        },
        external_name="Bash",
        external_arguments={"background": "run_in_background"},
        rule_target="command",
        for_small_models=True,
        headline="command",
        chinese="在工作区中执行 shell 命令并返回输出。",
        chinese_results={
            "timed out after {seconds} s and was ended": "执行超过 {seconds} 秒，已被终止",
            "background {number}": "后台命令 {number}",
            "the command is empty": "命令为空",
            "the command could not be started: {why}": "命令无法启动：{why}",
            "the command was lost: it may have run; check before repeating it": (
                "命令已失联：可能已经执行；重复之前请先检查"
            ),
        },
    )
    arguments = BashArguments

    def __init__(
        self, limits: Callable[[str], BashLimits] = usual_limits, *, first_moment: float = _FIRST_MOMENT
    ) -> None:
        """`limits` returns the limits for a workspace folder. `first_moment` is how many seconds a background command
        is watched after its start, so that the model learns at once of a command that fails at once."""
        self._limits = limits
        self._first_moment = first_moment

    def need(self, arguments: BashArguments, workspace: Workspace) -> Need:
        if not arguments.command.strip():
            raise ToolFailed("the command is empty")
        return Need(
            tool="bash",
            kind="command",
            title=arguments.command,
            command=arguments.command,
            rights=rights_of(arguments.command),
            sandbox=workspace.commands.backend,
            background=arguments.background,
        )

    async def run(self, arguments: BashArguments, workspace: Workspace) -> Finished:
        path = workspace.environment.get("PATH", "")
        shell = find_program("bash", path, workspace.disk.roots) or "/bin/bash"
        argv = [shell, "--noprofile", "--norc", "-c", arguments.command]
        rights, limits = rights_of(arguments.command), self._limits(workspace.root)
        try:
            if arguments.background:
                workspace.background().make_room()
                running = await workspace.commands.start(
                    argv, rights=rights, output_bytes=limits.output_bytes, free_bytes=limits.free_bytes
                )
                return await self._leave_running(running, workspace, rights)
            seconds = _seconds(arguments, limits)
            ended = await workspace.commands.run(
                argv,
                rights=rights,
                seconds=seconds,
                output_bytes=limits.output_bytes,
                free_bytes=limits.free_bytes,
            )
            return _result(ended, seconds, lambda output: _hint(output, workspace, rights))
        except CannotStart as error:
            raise CommandFailed(
                say("the command could not be started: {why}", why=error), CommandEnd(cause="not started")
            ) from error
        except ProcessesLost as error:
            raise CommandFailed(
                "the command was lost: it may have run; check before repeating it", CommandEnd(cause="lost")
            ) from error

    async def _leave_running(
        self, running: RunningCommand, workspace: Workspace, rights: tuple[Right, ...]
    ) -> Finished:
        try:
            over = await running.wait(self._first_moment)
        except BaseException:
            await running.stop()
            raise
        if over:
            return _result(running.finished(), hint=lambda output: _hint(output, workspace, rights))
        number = workspace.background().keep(running)
        lines = [f"It runs in the background as number {number}.", running.take_output().rstrip("\n")]
        return Finished(
            "\n".join(filter(None, lines)), summary=say("background {number}", number=number), background=number
        )


def _seconds(arguments: BashArguments, limits: BashLimits) -> float:
    """The timeout of a call, which may be longer than the default, up to `_MOST_SECONDS` (or the default, if that is
    more)."""
    wanted = limits.seconds if arguments.timeout is None else arguments.timeout
    return min(max(wanted, 0.1), max(_MOST_SECONDS, limits.seconds))


def _hint(output: str, workspace: Workspace, rights: tuple[Right, ...]) -> str:
    from coderelay.workspace.sandbox.failure_hints import sandbox_hint  # imported late: few commands fail

    return sandbox_hint(output, workspace.commands.backend, rights)


def _result(ended: Ended, seconds: float = 0, hint: Callable[[str], str] = lambda output: "") -> Finished:
    trouble, output = _trouble(ended, seconds), _output(ended)
    if trouble:
        raise CommandFailed(trouble, _end(ended), detail="\n".join(filter(None, [output, hint(output)])))
    return Finished(
        output, summary=say("exit code {code}, {seconds} s", code=0, seconds=f"{ended.seconds:.1f}"), end=_end(ended)
    )


def _end(ended: Ended) -> CommandEnd:
    cause = "timeout" if ended.timed_out else "disk" if ended.ended_because else ""
    return CommandEnd(ended.exit_code, ended.signal, cause)


def _trouble(ended: Ended, seconds: float) -> str:
    if ended.timed_out:
        return say("timed out after {seconds} s and was ended", seconds=f"{seconds:g}")
    if ended.ended_because:
        return ended.ended_because
    if ended.signal is not None:
        return say("ended by signal {number}", number=ended.signal)
    return say("exit code {code}", code=ended.exit_code) if ended.exit_code else ""


def _output(ended: Ended) -> str:
    return ended.output.rstrip("\n")
