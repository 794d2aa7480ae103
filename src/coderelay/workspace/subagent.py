"""The contract of whoever gives tasks to agents of their own."""

from collections.abc import Awaitable, Callable

from coderelay.protocol.calls import Finished
from coderelay.protocol.errors import ToolFailed

GiveTask = Callable[[str, str], Awaitable[Finished]]
"""A description for people, and what the agent is told. Its answer is the result. Raises ToolFailed."""


async def no_tasks(description: str, prompt: str) -> Finished:
    raise ToolFailed("there is no other agent here to give a task to; do it yourself")
