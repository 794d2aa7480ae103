"""Slash commands that list what the agent can use: `/tools`, `/skills`, `/agents`."""

from coderelay.client.commands.slash_command import ONLY_SHOWS, SHOW, Context, SlashCommand
from coderelay.client.i18n import retell, t
from coderelay.protocol.bilingual_text import Localized
from coderelay.protocol.calls import Kind
from coderelay.protocol.display_text import padded, visible, width_of
from coderelay.protocol.queries import (
    ListAgents,
    ListSkills,
    ListSubagents,
    ListTools,
    ShowSession,
)
from coderelay.protocol.query_results import (
    AgentShown,
    SkillShown,
    SkillsShown,
    SubagentShown,
    SubagentsShown,
    ToolShown,
)
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
