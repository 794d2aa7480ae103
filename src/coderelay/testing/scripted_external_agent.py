"""A scripted agent with a loop of its own, for tests of the code around agents such as Claude or ACP programs.

    agent = BlockingAgent(lambda prompt: [Says("let me see"), Uses("make", "make test"), Says("built")])

It runs its commands itself, those of one `Uses` at the same time, and asks before each, except for what it does
`without_asking`. It says what hooks have to say about a command. When another process carries its turn on, it takes
the log for its own memory: what it said and what may have run is not repeated, and what was allowed or answered and
never reached it is asked about again.
"""

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any, Literal

from msgspec import Struct

from coderelay.agents.agent import Description
from coderelay.agents.turn import Turn
from coderelay.protocol.asks import Answers, Deny, DenyAndStop
from coderelay.protocol.calls import Call, CommandEnd, Failed, Finished, Need, Outcome, Question, Stopped
from coderelay.protocol.events import MessageAdded
from coderelay.protocol.ids import CallId, MessageId, new_id
from coderelay.protocol.message_content import Text, text_of
from coderelay.session.state import CallState, SessionSettings
from coderelay.session.unfinished_call_outcomes import outcome_without_running


class Says(Struct, frozen=True):
    text: str


class Uses(Struct, frozen=True):
    """The agent runs commands, and puts a question to the person at the same time if it has a `question`."""

    commands: tuple[str, ...]
    without_asking: bool = False
    question: str = ""


class AsksQuestion(Struct, frozen=True):
    """The agent puts a question to the person, and says the answer."""

    question: str


class Attaches(Struct, frozen=True):
    """The agent tells the id of its own session."""

    agent_session_id: str


class Emits(Struct, frozen=True):
    """The agent's program emits messages besides those of what it does, and the agent hands them in as they are."""

    messages: tuple[str, ...]
    form: str = "cowork"


class Fails(Struct, frozen=True):
    """The agent breaks down."""

    message: str


Step = Says | Uses | AsksQuestion | Attaches | Emits | Fails
Script = Callable[[str], Sequence[Step]]
KillPoint = Literal["agent.asked", "agent.told", "agent.ran"]


def uses(*commands: str, without_asking: bool = False, question: str = "") -> Uses:
    return Uses(commands, without_asking, question)


class BlockingAgent:
    """`on_kill_point` is called before the agent asks about a command, when it is told the answer, and when the
    command has run: tests kill the process there. With `verbatim`, the agent has a program whose messages it hands
    in."""

    name = "blocking"
    runs_own_loop = True

    def __init__(
        self,
        script: Script,
        on_kill_point: Callable[[KillPoint], None] = lambda arrow: None,
        *,
        has_own_session_ids: bool = False,
        verbatim: bool = False,
    ) -> None:
        self._script = script
        self.has_own_session_ids = has_own_session_ids
        self.stores_raw_messages = verbatim
        self._on_kill_point = on_kill_point

    def cannot_run(self, settings: SessionSettings) -> str | None:
        return None

    def describe(self, settings: SessionSettings) -> Description:
        return Description("A scripted agent.", ())

    async def suggest_title(self, settings: SessionSettings, prompt: str) -> str:
        return prompt

    async def close(self) -> None:
        return

    async def run(self, turn: Turn) -> None:
        assert turn.state.turn is not None
        memory, program = _Memory(turn), _Program(turn, is_heard=self.stores_raw_messages)
        await program.emit("system", subtype="init", model="scripted")
        for step in self._script(turn.state.turn.started.text):
            match step:
                case Says(text):
                    if not memory.has_said(text):
                        await _say(turn, program, text)
                case Uses(commands):
                    async with asyncio.TaskGroup() as group:
                        for command in commands:
                            if not memory.has_handled(command):
                                group.create_task(self._use(turn, program, command, asks=not step.without_asking))
                        if step.question and not memory.has_handled(step.question):
                            group.create_task(self._ask_question(turn, program, step.question))
                case AsksQuestion(question):
                    if not memory.has_handled(question):
                        await self._ask_question(turn, program, question)
                case Attaches(agent_session_id):
                    await turn.attach(agent_session_id, "its-model", ("Bash",))
                case Emits(messages, form):
                    await turn.keep(messages, form)
                case Fails(message):
                    raise RuntimeError(message)
        await program.emit("result", subtype="success", is_error=False)
        await turn.finish()

    async def _ask_question(self, turn: Turn, program: "_Program", question: str) -> None:
        call = Call(CallId(f"wonder_{new_id()}"), "ask_user", json.dumps({"question": question}))
        need = Need(tool="ask_user", kind="ask", title=question, questions=(Question(question),))
        await program.call(call)
        decision = await turn.ask(call, need)
        if isinstance(decision, Answers):
            answer = decision.answers[question]
            await program.result(call, answer)
            await turn.heard(call, need, Finished(answer))
            await _say(turn, program, answer)

    async def _use(self, turn: Turn, program: "_Program", command: str, *, asks: bool) -> None:
        call = Call(CallId(f"use_{new_id()}"), "bash", json.dumps({"command": command}))
        need = Need(tool="bash", kind="command", title=command, command=command)
        await program.call(call)
        if asks:
            self._on_kill_point("agent.asked")
            decision = await turn.ask(call, need)
            self._on_kill_point("agent.told")
            if isinstance(decision, Deny | DenyAndStop):
                return
        outcome = await _run(command, turn.settings.cwd)
        self._on_kill_point("agent.ran")
        await program.result(call, outcome.output if isinstance(outcome, Finished) else "it failed")
        if told := await turn.heard(call, need, outcome):
            await _say(turn, program, told)


class _Program:
    """The program of the agent: it emits a message for everything that it does, in a form that nobody else would make
    of the events. If `is_heard` is false, the agent hands in none of these messages."""

    def __init__(self, turn: Turn, *, is_heard: bool) -> None:
        self._turn = turn
        self._is_heard = is_heard

    async def call(self, call: Call) -> None:
        block = {"type": "tool_use", "id": call.id, "name": "Bash", "input": json.loads(call.arguments)}
        await self.emit("assistant", message={"role": "assistant", "content": [block]})

    async def result(self, call: Call, text: str) -> None:
        block = {"type": "tool_result", "tool_use_id": call.id, "content": [{"type": "text", "text": text}]}
        await self.emit("user", message={"role": "user", "content": [block]})

    async def emit(self, kind: str, **fields: Any) -> str:
        """Returns the id of the message."""
        name = new_id()
        if self._is_heard:
            message = {"uuid": name, "type": kind, "session_id": "theirs", **fields}
            await self._turn.keep([json.dumps(message, indent=1)])
        return name


class _Memory:
    """What the turn has said and done before this process carried it on."""

    def __init__(self, turn: Turn) -> None:
        assert turn.state.turn is not None
        own = turn.id if turn.continuation is not None else None
        said = [each for each in turn.state.history if isinstance(each, MessageAdded) and each.turn_id == own]
        self._said = [text_of(each.blocks) for each in said]
        calls = [turn.state.calls[each] for each in turn.state.turn.calls] if own is not None else []
        self._done = [_subject(each) for each in calls if _is_done(each)]

    def has_said(self, text: str) -> bool:
        return _take(self._said, text)

    def has_handled(self, subject: str) -> bool:
        return _take(self._done, subject)


def _take(known: list[str], text: str) -> bool:
    if text not in known:
        return False
    known.remove(text)
    return True


def _subject(call: CallState) -> str:
    """The command or the question of a call."""
    arguments = json.loads(call.call.arguments)
    return arguments["command"] if "command" in arguments else arguments["question"]


def _is_done(call: CallState) -> bool:
    """Not what was allowed or answered and never reached the agent."""
    granted = outcome_without_running(call) is None or isinstance(call.answer, Answers)
    never_ran = call.started_epoch is None and granted
    return call.outcome is not None and not never_ran and not isinstance(call.outcome, Stopped)


async def _say(turn: Turn, program: _Program, text: str) -> None:
    content = [{"type": "text", "text": text}]
    name = MessageId(await program.emit("assistant", message={"role": "assistant", "content": content}))
    await turn.add(
        MessageAdded(message_id=name, turn_id=turn.id, model="scripted", blocks=(Text(text),)), (), final=False
    )


async def _run(command: str, cwd: str) -> Outcome:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_shell(command, cwd=cwd, stdout=pipe, stderr=asyncio.subprocess.STDOUT)
    try:
        output, _ = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    text, end = output.decode(errors="replace"), CommandEnd(exit_code=process.returncode)
    return Finished(text, end=end) if process.returncode == 0 else Failed(text or "failed", end=end)
