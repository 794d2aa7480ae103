"""What the agent of a session has: `/tools`, `/skills`, `/agents` and `/mcp`."""

from coderelay.client.client import Client
from coderelay.client.commands.slash_command import ONLY_SHOWS, SHOW, Context, SlashCommand
from coderelay.client.i18n import retell, t
from coderelay.client.typed_line import PromptToSend
from coderelay.protocol.bilingual_text import Localized
from coderelay.protocol.calls import Kind
from coderelay.protocol.errors import BadInput
from coderelay.protocol.ids import SessionId
from coderelay.protocol.queries import (
    ListAgents,
    ListServers,
    ListSkills,
    ListSubagents,
    ListTools,
    ReadFromServer,
    ShowSession,
    ShowTrust,
)
from coderelay.protocol.query_results import (
    AgentShown,
    PromptRow,
    ServerRow,
    SkillShown,
    SkillsShown,
    SubagentShown,
    SubagentsShown,
    ToolShown,
)
from coderelay.protocol.text_escaping_and_width import padded, visible, width_of
from coderelay.protocol.tool_specs import first_sentence

_LINE = 100
_KINDS: dict[Kind, str] = {
    "read": "read",
    "edit": "edit",
    "command": "command",
    "network": "network",
    "mcp": "mcp",
    "ask": "question",
}


async def agents(here: Context, _: str) -> str:
    current = (await here.client.get(ShowSession(here.session))).agent
    told = agents_in_words(await here.client.get(ListAgents(here.session)), current)
    subagents = subagents_in_words(await here.client.get(ListSubagents(here.session)))
    return "\n\n".join(filter(None, (told, subagents)))


async def tools(here: Context, _: str) -> str:
    return tools_in_words(await here.client.get(ListTools(here.session)))


async def skills(here: Context, _: str) -> str:
    return skills_in_words(await here.client.get(ListSkills(here.session)))


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
        name="agents",
        group=SHOW,
        text=Localized(
            "list the available agents, and other agents found on this machine",
            "列出可用的 agent，以及在本机找到的其他 agent",
        ),
        run=agents,
        detail=ONLY_SHOWS,
        remote=True,
    ),
    SlashCommand(
        name="tools",
        group=SHOW,
        text=Localized(
            "list the agent's tools, their kinds, and which are disabled",
            "列出当前可用工具及其类别，以及被禁用的工具",
        ),
        run=tools,
        detail=ONLY_SHOWS,
        remote=True,
    ),
    SlashCommand(
        name="skills",
        group=SHOW,
        text=Localized(
            "list the skills the agent can load, and why others are not used",
            "列出当前可用技能，以及其他技能未使用的原因",
        ),
        run=skills,
        detail=ONLY_SHOWS,
        remote=True,
    ),
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


def tools_in_words(tools: list[ToolShown]) -> str:
    if not tools:
        return t("this agent has no tools")
    name = max(len(each.name) for each in tools)
    kinds = [t(_KINDS[each.kind]) for each in tools]
    kind = max(map(width_of, kinds))
    rows = zip(tools, kinds, strict=True)
    return "\n".join(f"{each.name.ljust(name)}  {padded(told, kind)}  {_about(each)}" for each, told in rows)


def _about(tool: ToolShown) -> str:
    if tool.off:
        return t("({text})", text=retell(tool.off))
    told = first_sentence(tool.description)
    return _line(told if tool.kind == "mcp" else retell(told))


def skills_in_words(shown: SkillsShown) -> str:
    lines = [line for each in shown.found for line in _skill(each)] or [t("no skills")]
    return "\n".join([*lines, *(t("({text})", text=retell(note)) for note in shown.notes)])


def _skill(skill: SkillShown) -> list[str]:
    whose = t("your own") if skill.own else t("this folder's")
    chosen = t(", only started with /{name}", name=skill.name) if skill.by_name_only else ""
    return [f"/{visible(skill.name)}  {_line(skill.description)}", f"  {whose}{chosen}: {visible(skill.file)}"]


def subagents_in_words(shown: SubagentsShown) -> str:
    """The subagents with a name; empty if there is nothing to say of any."""
    lines = [line for each in shown.found for line in _subagent(each)]
    notes = [t("({text})", text=retell(note)) for note in shown.notes]
    return "\n".join([*([t("Subagents that the agent can give tasks to:")] if lines else []), *lines, *notes])


def _subagent(subagent: SubagentShown) -> list[str]:
    whose = t("your own") if subagent.own else t("this folder's")
    return [f"{visible(subagent.name)}  {_line(subagent.description)}", f"  {whose}: {visible(subagent.file)}"]


def agents_in_words(agents: list[AgentShown], current: str) -> str:
    width = max(len(each.name) for each in agents)
    return "\n".join(_agent(each, width, is_current=each.name == current) for each in agents)


def _agent(agent: AgentShown, width: int, *, is_current: bool) -> str:
    mark = "*" if is_current else " "
    return f"{mark} {agent.name.ljust(width)}  {t(agent.description)}{_problem_suffix(agent.problem)}"


def _problem_suffix(problem: str) -> str:
    return t(" ({text})", text=retell(problem)) if problem else ""


def _line(text: str) -> str:
    line = visible(text)
    return line if len(line) <= _LINE else f"{line[: _LINE - 1]}…"
