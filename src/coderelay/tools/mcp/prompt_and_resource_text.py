"""The text of a prompt or resource of an MCP server, as a person typed for it."""

from collections.abc import Sequence

from coderelay.protocol.errors import BadInput
from coderelay.tools.mcp.mcp_tool import content_text, part_text
from coderelay.tools.mcp.protocol_types import Prompt, PromptMessage
from coderelay.tools.mcp.restarting_server import McpServer
from coderelay.tools.toolbox import shortened


async def prompt_or_resource_text(server: McpServer, what: str, rest: str) -> str:
    prompts = {each.name: each for each in await server.prompts()}
    if what in prompts:
        return _in_one(await server.prompt(what, _arguments(prompts[what], rest)))
    if all(each.uri != what for each in await server.resources()):
        raise BadInput(
            f"{server.name} has no prompt or resource {what!r}",
            "/mcp lists the servers with their prompts and resources.",
        )
    contents = [content_text(each) for each in await server.read(what)]
    return "\n\n".join([shortened("\n\n".join(contents)), rest]).strip()


def _arguments(prompt: Prompt, rest: str) -> dict[str, str]:
    """One word for each argument, in their order; the last argument gets all remaining words."""
    words = rest.split(maxsplit=max(len(prompt.arguments) - 1, 0))
    given = dict(zip((each.name for each in prompt.arguments), words, strict=False))
    missing = [each.name for each in prompt.arguments if each.required and each.name not in given]
    if missing:
        raise BadInput(f"{prompt.name} needs {', '.join(missing)}")
    return given


def _in_one(messages: Sequence[PromptMessage]) -> str:
    """Join the messages of a prompt. Most prompts are one message; if an assistant speaks too, the roles are
    marked."""
    said = [part_text(each.content) for each in messages]
    marked = [f"{each.role}:\n{text}" for each, text in zip(messages, said, strict=True)]
    return "\n\n".join(said if all(each.role == "user" for each in messages) else marked)
