"""The official ACP client with a real `coder acp`. Every message is checked against the published schema."""

import asyncio
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Any

import acp
from acp import schema
from acp.client import ClientSideConnection
from acp.connection import StreamDirection, StreamEvent

from tests.coder_process import PROGRAM, Coder
from tests.editor.acp_schema import SchemaTap
from tests.patience import PATIENCE


class Asked:
    """A permission request that waits for the person."""

    def __init__(self, tool_call: schema.ToolCallUpdate, options: list[schema.PermissionOption]) -> None:
        self.tool_call = tool_call
        self.options = options
        self.answer: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()

    @property
    def kinds(self) -> dict[str, str]:
        return {each.option_id: each.kind for each in self.options}

    def choose(self, option: str | None) -> None:
        """None: the editor cancels the request, as it does after session/cancel."""
        self.answer.set_result(option)


class Screen:
    """What the editor shows."""

    def __init__(self) -> None:
        self.updates: list[dict[str, Any]] = []
        self.raw: list[dict[str, Any]] = []
        self.sent: list[str] = []
        self.tap = SchemaTap()
        self.asked: asyncio.Queue[Asked] = asyncio.Queue()
        self._changed = asyncio.Condition()

    async def request_permission(
        self, session_id: str, tool_call: schema.ToolCallUpdate, options: list[schema.PermissionOption], **_: Any
    ) -> schema.RequestPermissionResponse:
        asked = Asked(tool_call, options)
        self.asked.put_nowait(asked)
        option = await asked.answer
        if option is None:
            return schema.RequestPermissionResponse(outcome=schema.DeniedOutcome(outcome="cancelled"))
        return schema.RequestPermissionResponse(outcome=schema.AllowedOutcome(outcome="selected", option_id=option))

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        return  # `see` takes them, in the order in which they arrive

    def see(self, event: StreamEvent) -> None:
        message = event.message
        is_ours = event.direction is StreamDirection.INCOMING
        self.tap.check("agent" if is_ours else "client", message)
        if is_ours:
            self.raw.append(message)
            if message.get("method") == "session/update":
                self.updates.append(message["params"]["update"])
        elif "method" in message and "id" in message:
            self.sent.append(message["method"])
        asyncio.get_running_loop().create_task(self._tell())

    async def until(self, kind: str, **fields: Any) -> dict[str, Any]:
        """The first update of a kind that has these fields."""
        return await self.until_seen(
            lambda each: each["sessionUpdate"] == kind and all(each.get(name) == fields[name] for name in fields)
        )

    async def until_seen(self, is_wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE), self._changed:
            while not (found := [each for each in self.updates if is_wanted(each)]):
                await self._changed.wait()
        return found[0]

    async def until_told(self, method: str) -> dict[str, Any]:
        async with asyncio.timeout(PATIENCE), self._changed:
            while True:
                for each in self.raw:
                    if each.get("method") == method:
                        return each["params"]
                await self._changed.wait()

    async def until_sent(self, method: str, count: int) -> None:
        """Until so many requests of a method are on their way."""
        async with asyncio.timeout(PATIENCE), self._changed:
            await self._changed.wait_for(lambda: self.sent.count(method) >= count)

    async def next_asked(self) -> Asked:
        async with asyncio.timeout(PATIENCE):
            return await self.asked.get()

    def text(self, kind: str = "agent_message_chunk") -> str:
        return "".join(each["content"]["text"] for each in self.updates if each["sessionUpdate"] == kind)

    def calls(self) -> dict[str, dict[str, Any]]:
        """The tool calls as patched until now."""
        found: dict[str, dict[str, Any]] = {}
        for each in self.updates:
            if each["sessionUpdate"] in ("tool_call", "tool_call_update"):
                found.setdefault(each["toolCallId"], {}).update(each)
        return found

    async def _tell(self) -> None:
        async with self._changed:
            self._changed.notify_all()


class Form(Screen):
    """An editor that has forms, and fills them in."""

    def __init__(self, **content: Any) -> None:
        super().__init__()
        self.content = content
        self.forms: list[Any] = []

    async def create_elicitation(self, message: str, mode: Any, **_: Any) -> schema.AcceptElicitationResponse:
        self.forms.append(mode.requested_schema.model_dump(by_alias=True, exclude_none=True))
        return schema.AcceptElicitationResponse(action="accept", content=self.content)


class Opened:
    def __init__(self, agent: ClientSideConnection, process: asyncio.subprocess.Process, screen: Screen) -> None:
        self.agent = agent
        self.process = process
        self.screen = screen

    async def new(self, coder: Coder) -> str:
        return (await self.agent.new_session(cwd=str(coder.cwd), mcp_servers=[])).session_id

    def prompt(self, session: str, text: str) -> "asyncio.Task[schema.PromptResponse]":
        return asyncio.ensure_future(self.agent.prompt(session_id=session, prompt=[acp.text_block(text)]))


@asynccontextmanager
async def editor(
    coder: Coder, screen: Screen | None = None, capabilities: schema.ClientCapabilities | None = None
) -> AsyncGenerator[Opened]:
    """A real process, initialized. It must end by itself when its input is closed, unless a test has killed it."""
    screen = screen or Screen()
    patient = {"shutdown_timeout": PATIENCE, "limit": 50 * 1024 * 1024, "stderr": None}
    async with acp.spawn_agent_process(
        screen,  # pyright: ignore[reportArgumentType]  # the methods that the agent does not use are left out
        sys.executable,
        *PROGRAM,
        "acp",
        env=coder.env,
        cwd=coder.cwd,
        transport_kwargs=patient,
        observers=[screen.see],
        use_unstable_protocol=True,
    ) as (agent, process):
        await agent.initialize(protocol_version=acp.PROTOCOL_VERSION, client_capabilities=capabilities)
        yield Opened(agent, process, screen)
    assert screen.tap.problems == []
