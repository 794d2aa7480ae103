"""`/mcp`: the MCP servers of a session, and what they offer."""

from coderelay.client.client import Client
from coderelay.client.commands.slash_command import SHOW, Context, SlashCommand
from coderelay.client.i18n import t
from coderelay.client.typed_line import PromptToSend
from coderelay.protocol.bilingual_text import Localized
from coderelay.protocol.display_text import visible
from coderelay.protocol.errors import BadInput
from coderelay.protocol.ids import SessionId
from coderelay.protocol.queries import (
    ListServers,
    ReadFromServer,
    ShowTrust,
)
from coderelay.protocol.query_results import PromptRow, ServerRow

_TOOLS_SHOWN = 20


async def mcp(here: Context, chosen: str) -> str | PromptToSend:
    if not chosen:
        return await servers_in_words(here.client, here.session)
    return PromptToSend(await chosen_text(here.client, here.session, chosen))


async def servers_in_words(client: Client, session: SessionId) -> str:
    rows = await client.get(ListServers(session))
    told = [*map(_in_words, rows), *await _untrusted_servers(client, session)]
    return "\n".join(told) or t("no MCP servers configured; add one with `coder mcp add`")


async def _untrusted_servers(client: Client, session: SessionId) -> list[str]:
    try:
        settings = (await client.get(ShowTrust(session))).settings
    except BadInput:  # only the person at the machine may see what the folder brings
        return []
    names = dict.fromkeys(each.key.split(".")[1] for each in settings if each.key.startswith("mcp_servers."))
    return [t("{name}  not trusted yet; review it with /trust", name=visible(each)) for each in names]


async def chosen_text(client: Client, session: SessionId, chosen: str) -> str:
    """The prompt that `/mcp:server:prompt ARGUMENTS` or `/mcp:server:resource TEXT` sends."""
    name, _, rest = chosen.partition(" ")
    server, _, what = name.partition(":")
    if not server or not what:
        raise BadInput(
            t("usage: /mcp:SERVER:PROMPT or /mcp:SERVER:RESOURCE"),
            t("/mcp lists the servers with their prompts and resources."),
        )
    return await client.get(ReadFromServer(session, server, what, rest.strip()))


def _in_words(row: ServerRow) -> str:
    """Names and descriptions come from the server, so characters that a terminal would obey are replaced."""
    lines = [f"{row.name}  {row.state}  {row.where}", *(f"  {line}" for line in row.note.splitlines())]
    if row.tools:
        more = t(" and {count} more", count=len(row.tools) - _TOOLS_SHOWN) if len(row.tools) > _TOOLS_SHOWN else ""
        lines.append("  " + t("tools: {names}", names=", ".join(row.tools[:_TOOLS_SHOWN]) + more))
    lines += [f"  /mcp:{row.name}:{each.name}{_arguments(each)}  {each.description}".rstrip() for each in row.prompts]
    lines += [f"  /mcp:{row.name}:{each.uri}  {each.name}".rstrip() for each in row.resources]
    return "\n".join("".join(each if each.isprintable() else "\ufffd" for each in line) for line in lines)


def _arguments(prompt: PromptRow) -> str:
    return "".join(f" [{each}]" if each in prompt.optional else f" {each}" for each in prompt.arguments)


COMMANDS = (
    SlashCommand(
        name="mcp",
        group=SHOW,
        text=Localized(
            "list the MCP servers and what they offer, or send one of their prompts",
            "列出 MCP 服务器及其内容，或发送其中的提示",
        ),
        run=mcp,
        hint="[SERVER:PROMPT ARGUMENTS]",
        detail=Localized(
            "A server's prompt is sent like your own; without arguments, nothing changes.",
            "服务器的提示会像你自己的提示一样发送；不带参数则不作任何改动。",
        ),
        example="/mcp issues:triage 17",
        in_editors=True,
    ),
)
