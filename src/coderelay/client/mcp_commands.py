"""`/mcp`: what MCP servers there are, and sending what a person chooses of them."""

from coderelay.client.client import Client
from coderelay.client.language import t
from coderelay.protocol.errors import BadInput
from coderelay.protocol.ids import SessionId
from coderelay.protocol.mcp_info import PromptRow, ServerRow
from coderelay.protocol.queries import ListServers, ReadFromServer

_TOOLS_SHOWN = 20


async def servers_in_words(client: Client, session: SessionId) -> str:
    rows = await client.get(ListServers(session))
    return "\n".join(map(_in_words, rows)) or t("no MCP server is configured here; `coder mcp add` adds one")


async def chosen_text(client: Client, session: SessionId, chosen: str) -> str:
    """What `/mcp:server:prompt ARGUMENTS` or `/mcp:server:resource TEXT` sends."""
    name, _, rest = chosen.partition(" ")
    server, _, what = name.partition(":")
    if not server or not what:
        raise BadInput(t("it is /mcp:SERVER:PROMPT or /mcp:SERVER:RESOURCE"), t("/mcp shows what there is."))
    return await client.get(ReadFromServer(session, server, what, rest.strip()))


def _in_words(row: ServerRow) -> str:
    """Whatever a server calls itself and its things, nothing is left that a terminal would obey."""
    lines = [f"{row.name}  {row.state}  {row.where}", *(f"  {line}" for line in row.note.splitlines())]
    if row.tools:
        more = t(" and {count} more", count=len(row.tools) - _TOOLS_SHOWN) if len(row.tools) > _TOOLS_SHOWN else ""
        lines.append("  " + t("tools: {names}", names=", ".join(row.tools[:_TOOLS_SHOWN]) + more))
    lines += [f"  /mcp:{row.name}:{each.name}{_arguments(each)}  {each.description}".rstrip() for each in row.prompts]
    lines += [f"  /mcp:{row.name}:{each.uri}  {each.name}".rstrip() for each in row.resources]
    return "\n".join("".join(each if each.isprintable() else "\ufffd" for each in line) for line in lines)


def _arguments(prompt: PromptRow) -> str:
    return "".join(f" [{each}]" if each in prompt.optional else f" {each}" for each in prompt.arguments)
