"""Slash commands that show the state of a session: `/status`, `/tools`, `/tasks`, `/ps`, `/mcp`, `/cost`."""

from coderelay import __version__
from coderelay.client.client import Client
from coderelay.client.command_catalog import help_of, help_text
from coderelay.client.commands.command import ONLY_SHOWS, SHOW, Context, SlashCommand
from coderelay.client.context_usage_text import context_in_words
from coderelay.client.i18n import retell, t
from coderelay.client.permission_matrix_text import profile_in_words, unconfined_note
from coderelay.client.permission_text import sandbox_in_words
from coderelay.client.todo_text import background_line, todo_lines
from coderelay.client.tool_and_agent_lists import agents_in_words, skills_in_words, subagents_in_words, tools_in_words
from coderelay.client.typed_line import PromptToSend
from coderelay.client.visible_text import padded, visible, width_of
from coderelay.protocol.commands import Accepted, StopBackground, StopTurn
from coderelay.protocol.errors import BadInput
from coderelay.protocol.ids import BackgroundId, SessionId
from coderelay.protocol.localized_text import Localized
from coderelay.protocol.projected_rows import Summary
from coderelay.protocol.queries import (
    ListAgents,
    ListBackground,
    ListChildren,
    ListServers,
    ListSkills,
    ListSubagents,
    ListTodos,
    ListTools,
    ReadFromServer,
    ShowContext,
    ShowHost,
    ShowPermissions,
    ShowSession,
    ShowTrust,
    WhyWaiting,
)
from coderelay.protocol.query_results import PromptRow, ServerRow

_TOOLS_SHOWN = 20


async def show_help(here: Context, name: str) -> str:
    if name == "keys" and here.keys:
        return here.keys
    if name:
        return await help_of(here.client, here.session, here.commands, name)
    told = await help_text(here.client, here.session, here.commands)
    return f"{here.keys}\n\n{told}" if here.keys else told


async def status(here: Context, _: str) -> str:
    return await status_in_words(here.client, here.session)


async def agents(here: Context, _: str) -> str:
    current = (await here.client.get(ShowSession(here.session))).agent
    told = agents_in_words(await here.client.get(ListAgents(here.session)), current)
    subagents = subagents_in_words(await here.client.get(ListSubagents(here.session)))
    return "\n\n".join(filter(None, (told, subagents)))


async def tools(here: Context, _: str) -> str:
    return tools_in_words(await here.client.get(ListTools(here.session)))


async def skills(here: Context, _: str) -> str:
    return skills_in_words(await here.client.get(ListSkills(here.session)))


async def context(here: Context, _: str) -> str:
    return context_in_words(await here.client.get(ShowContext(here.session)))


async def todos(here: Context, _: str) -> str:
    return "\n".join(todo_lines(await here.client.get(ListTodos(here.session)))) or t("no todo list yet")


async def tasks(here: Context, rest: str) -> str:
    children = await here.client.get(ListChildren(here.session))
    action, _, number = rest.partition(" ")
    if not action:
        lines = map(_task_line, range(1, len(children) + 1), children)
        return "\n".join(lines) or t("no subagent tasks")
    if action != "stop" or not number.strip().isdecimal():
        raise here.misused()
    place = int(number)
    if not 1 <= place <= len(children):
        raise BadInput(t("no task {number}; /tasks lists them", number=place))
    done = isinstance(await here.client.send(StopTurn(session=children[place - 1].id, by=here.by)), Accepted)
    return t("(stopping task {number})", number=place) if done else t("already ended")


def _task_line(number: int, child: Summary) -> str:
    cost = "" if child.cost is None else f"  ${child.cost:.4f}"
    title = visible(" ".join(child.title.split()))
    return f"{number}. {padded(t(child.phase), 8)} {title}{cost}  · {child.id}"


async def background(here: Context, rest: str) -> str:
    action, _, number = rest.partition(" ")
    if not action:
        rows = await here.client.get(ListBackground(here.session))
        return "\n".join(map(background_line, rows)) or t("no background commands")
    if action != "stop" or not number.strip():
        raise here.misused()
    wanted = BackgroundId(number.strip())
    stop = StopBackground(session=here.session, background=wanted, by=here.by)
    done = isinstance(await here.client.send(stop), Accepted)
    if not done:
        return t("already ended or stopping")
    return t("(stopping background command {number})", number=wanted)


async def mcp(here: Context, chosen: str) -> str | PromptToSend:
    if not chosen:
        return await servers_in_words(here.client, here.session)
    return PromptToSend(await chosen_text(here.client, here.session, chosen))


async def cost(here: Context, _: str) -> str:
    row = await here.client.get(ShowSession(here.session))
    used = row.usage
    cached = t(", {tokens} of them cached", tokens=f"{used.cache_read_tokens:,}") if used.cache_read_tokens else ""
    price = t("price unknown") if row.cost is None else f"${row.cost:.4f}"
    spent = t(
        "{sent} tokens in{cached}, {came} out: {price}",
        sent=f"{used.input_tokens:,}",
        cached=cached,
        came=f"{used.output_tokens:,}",
        price=price,
    )
    parts = (await here.client.get(ShowContext(here.session))).parts
    filled = t("{tokens} tokens of the context window used", tokens=f"{sum(size for _, size in parts):,}")
    return f"{spent}\n{filled}"


COMMANDS = (
    SlashCommand(
        name="status",
        group=SHOW,
        text=Localized(
            "show this session: its state, model, mode, folder, usage and log file",
            "查看本会话：状态、模型、模式、目录、用量与日志文件",
        ),
        run=status,
        detail=ONLY_SHOWS,
        remote=True,
    ),
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
    SlashCommand(
        name="context",
        group=SHOW,
        text=Localized("show what fills the model's context window", "查看上下文窗口由什么占用"),
        run=context,
        detail=ONLY_SHOWS,
        remote=True,
    ),
    SlashCommand(
        name="todos",
        group=SHOW,
        text=Localized(
            "show the todo list of this session; only the agent changes it", "查看本会话的 todo 列表（只读）"
        ),
        run=todos,
        detail=ONLY_SHOWS,
        remote=True,
    ),
    SlashCommand(
        name="tasks",
        group=SHOW,
        text=Localized(
            "list the tasks that subagents work on for this session, or stop one",
            "列出子 agent 为本会话执行的任务，或停止其一",
        ),
        run=tasks,
        hint="[stop N]",
        detail=Localized(
            "`stop` stops the turn of that subagent; without it, nothing changes.",
            "`stop` 停止该子 agent 的回合；不带它则不作任何改动。",
        ),
        example="/tasks stop 1",
        remote=True,
    ),
    SlashCommand(
        name="ps",
        group=SHOW,
        text=Localized("list the background commands, or stop one", "列出后台命令，或停止其一"),
        run=background,
        hint="[stop N]",
        detail=Localized(
            "`stop` stops that command; without it, nothing changes.", "`stop` 停止该命令；不带它则不作任何改动。"
        ),
        example="/ps stop 1",
        remote=True,
    ),
    SlashCommand(
        name="cost",
        group=SHOW,
        text=Localized("show the tokens that this session used and what they cost", "查看本会话使用的 tokens 与费用"),
        run=cost,
        detail=ONLY_SHOWS,
        remote=True,
    ),
    SlashCommand(
        name="help",
        group=SHOW,
        text=Localized("show this help, or the help of one command", "显示此帮助，或某个命令的说明"),
        run=show_help,
        hint="[COMMAND]",
        detail=ONLY_SHOWS,
        example="/help undo",
        completes="command",
        remote=True,
    ),
)


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


async def status_in_words(client: Client, session: SessionId) -> str:
    row = await client.get(ShowSession(session))
    permissions = await client.get(ShowPermissions(session))
    context = await client.get(ShowContext(session))
    host = await client.get(ShowHost(session))
    waiting = await client.get(WhyWaiting(session)) if host.owner == "nobody" else None
    state = t(row.phase) if not waiting else f"{t(row.phase)} ({t('interrupted; {reason}', reason=retell(waiting))})"
    rows = [
        (t("session"), f"{row.id}  {row.title}".rstrip()),
        (t("state"), state),
        (t("agent"), row.agent),
        (t("model"), row.model),
        (t("mode"), row.mode if row.mode != "default" else f"{row.mode} ({permissions.preset})"),
        *([(t("profile"), profile_in_words(row.profile))] if row.profile else []),
        (t("sandbox"), sandbox_in_words(permissions) + unconfined_note(permissions)),
        (t("folder"), " · ".join((row.cwd, *row.folders))),
        (t("context"), _of(sum(tokens for _, tokens in context.parts), context.window)),
        (t("used"), _used(row)),
        (t("queue"), str(row.queued)),
        (t("open asks"), str(row.open_asks)),
        (t("background"), str(row.background)),
        (t("tasks"), str(row.children)),
        (t("run by"), t(host.owner)),
        (t("log"), host.log),
        (t("version"), f"coder {__version__}"),
        (t("language"), t("English")),
    ]
    width = max(width_of(name) for name, _ in rows)
    return "\n".join(f"{padded(name, width)}  {value}" for name, value in rows)


def _of(tokens: int, window: int) -> str:
    if not window:
        return t("{tokens} tokens", tokens=f"{tokens:,}")
    share = f"{100 * tokens / window:.0f}"
    return t("{tokens} of {window} tokens ({share} %)", tokens=f"{tokens:,}", window=f"{window:,}", share=share)


def _used(row: Summary) -> str:
    price = t("price unknown") if row.cost is None else f"${row.cost:.4f}"
    sent, came = f"{row.usage.input_tokens:,}", f"{row.usage.output_tokens:,}"
    return t("{sent} tokens in, {came} out: {price}", sent=sent, came=came, price=price)
