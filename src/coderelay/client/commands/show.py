"""Commands that show the state of a session: `/status`, `/tools`, `/tasks`, `/ps`, `/mcp`, `/cost` and others."""

from coderelay import __version__
from coderelay.client.client import Client
from coderelay.client.commands.command import ONLY_SHOWS, SHOW, Context, SlashCommand
from coderelay.client.language import retell, t
from coderelay.client.other_commands import help_of, help_text
from coderelay.client.overview import agents_in_words, context_in_words, skills_in_words, tools_in_words
from coderelay.client.slash_line import Prompted
from coderelay.client.todo_text import background_line, todo_lines
from coderelay.client.visible import padded, visible, width_of
from coderelay.protocol.commands import Accepted, StopBackground, StopTurn
from coderelay.protocol.errors import BadInput
from coderelay.protocol.ids import BackgroundId, SessionId
from coderelay.protocol.localized import Localized
from coderelay.protocol.queries import (
    ListAgents,
    ListBackground,
    ListChildren,
    ListServers,
    ListSkills,
    ListTodos,
    ListTools,
    ReadFromServer,
    ShowContext,
    ShowHost,
    ShowPermissions,
    ShowSession,
    WhyWaiting,
)
from coderelay.protocol.session_info import PromptRow, ServerRow
from coderelay.protocol.summary import Summary

_TOOLS_SHOWN = 20


async def show_help(here: Context, name: str) -> str:
    if name:
        return await help_of(here.client, here.session, here.commands, name)
    told = await help_text(here.client, here.session, here.commands)
    return f"{here.keys}\n\n{told}" if here.keys else told


async def status(here: Context, _: str) -> str:
    return await status_in_words(here.client, here.session)


async def agents(here: Context, _: str) -> str:
    current = (await here.client.get(ShowSession(here.session))).agent
    return agents_in_words(await here.client.get(ListAgents(here.session)), current)


async def tools(here: Context, _: str) -> str:
    return tools_in_words(await here.client.get(ListTools(here.session)))


async def skills(here: Context, _: str) -> str:
    return skills_in_words(await here.client.get(ListSkills(here.session)))


async def context(here: Context, _: str) -> str:
    return context_in_words(await here.client.get(ShowContext(here.session)))


async def todos(here: Context, _: str) -> str:
    return "\n".join(todo_lines(await here.client.get(ListTodos(here.session)))) or t("there is no todo list")


async def tasks(here: Context, rest: str) -> str:
    children = await here.client.get(ListChildren(here.session))
    action, _, number = rest.partition(" ")
    if not action:
        lines = map(_task_line, range(1, len(children) + 1), children)
        return "\n".join(lines) or t("no task was given to another agent")
    if action != "stop" or not number.strip().isdecimal():
        raise here.misused()
    place = int(number)
    if not 1 <= place <= len(children):
        raise BadInput(t("there is no task {number}; /tasks shows what there is", number=place))
    done = isinstance(await here.client.send(StopTurn(session=children[place - 1].id, by=here.by)), Accepted)
    return t("(task {number} is asked to stop)", number=place) if done else t("it is over")


def _task_line(number: int, child: Summary) -> str:
    cost = "" if child.cost is None else f"  ${child.cost:.4f}"
    title = visible(" ".join(child.title.split()))
    return f"{number}. {padded(t(child.phase), 8)} {title}{cost}  · {child.id}"


async def background(here: Context, rest: str) -> str:
    action, _, number = rest.partition(" ")
    if not action:
        rows = await here.client.get(ListBackground(here.session))
        return "\n".join(map(background_line, rows)) or t("no command was left running in the background")
    if action != "stop" or not number.strip():
        raise here.misused()
    wanted = BackgroundId(number.strip())
    stop = StopBackground(session=here.session, background=wanted, by=here.by)
    done = isinstance(await here.client.send(stop), Accepted)
    if not done:
        return t("it is over, or was asked already")
    return t("(background command {number} is asked to stop)", number=wanted)


async def mcp(here: Context, chosen: str) -> str | Prompted:
    if not chosen:
        return await servers_in_words(here.client, here.session)
    return Prompted(await chosen_text(here.client, here.session, chosen))


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
    filled = t(
        "the conversation fills {tokens} tokens of the model's window", tokens=f"{sum(size for _, size in parts):,}"
    )
    return f"{spent}\n{filled}"


COMMANDS = (
    SlashCommand(
        name="status",
        group=SHOW,
        text=Localized(
            "this session, its model and folder, and where everything is", "本会话、其模型与目录，以及各项数据的位置"
        ),
        run=status,
        detail=ONLY_SHOWS,
        remote=True,
    ),
    SlashCommand(
        name="agents",
        group=SHOW,
        text=Localized(
            "which agents there are, and which other programs were found", "有哪些 agent，以及找到了哪些其他程序"
        ),
        run=agents,
        detail=ONLY_SHOWS,
        remote=True,
    ),
    SlashCommand(
        name="tools",
        group=SHOW,
        text=Localized(
            "what the agent can do, of which kind, and what is disabled", "当前可用工具及其类别，以及被禁用的工具"
        ),
        run=tools,
        detail=ONLY_SHOWS,
        remote=True,
    ),
    SlashCommand(
        name="skills",
        group=SHOW,
        text=Localized(
            "instructions that the agent can load, and those that do not count", "当前可用技能，以及未生效的技能"
        ),
        run=skills,
        detail=ONLY_SHOWS,
        remote=True,
    ),
    SlashCommand(
        name="mcp",
        group=SHOW,
        text=Localized(
            "MCP servers and what they have; or send a prompt of one", "MCP 服务器及其内容；或发送其中的提示"
        ),
        run=mcp,
        hint="[SERVER:PROMPT ARGUMENTS]",
        detail=Localized(
            "A prompt of a server is sent like one of your own; else it only shows.",
            "服务器的提示会像你自己的提示一样发送；否则仅显示。",
        ),
        example="/mcp issues:triage 17",
    ),
    SlashCommand(
        name="context",
        group=SHOW,
        text=Localized("what fills the model's window", "上下文窗口由什么占用"),
        run=context,
        detail=ONLY_SHOWS,
        remote=True,
    ),
    SlashCommand(
        name="todos",
        group=SHOW,
        text=Localized(
            "the todo list of the session, which only the agent changes", "查看本会话的 todo 列表（只读）"
        ),
        run=todos,
        detail=ONLY_SHOWS,
        remote=True,
    ),
    SlashCommand(
        name="tasks",
        group=SHOW,
        text=Localized(
            "what other agents do for this session; or end one of them", "其他 agent 为本会话执行的任务；或停止其一"
        ),
        run=tasks,
        hint="[stop N]",
        detail=Localized(
            "`stop` ends the turn of that agent; else it only shows.", "`stop` 结束该 agent 的回合；否则仅显示。"
        ),
        example="/tasks stop 1",
        remote=True,
    ),
    SlashCommand(
        name="ps",
        group=SHOW,
        text=Localized("commands in the background; or end one of them", "后台命令；或停止其一"),
        run=background,
        hint="[stop N]",
        detail=Localized("`stop` ends that command; else it only shows.", "`stop` 结束该命令；否则仅显示。"),
        example="/ps stop 1",
        remote=True,
    ),
    SlashCommand(
        name="cost",
        group=SHOW,
        text=Localized("tokens and money of this session", "本会话的 tokens 与费用"),
        run=cost,
        detail=ONLY_SHOWS,
        remote=True,
    ),
    SlashCommand(
        name="help",
        group=SHOW,
        text=Localized("this, or more of one command", "显示此帮助，或某个命令的说明"),
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
    return "\n".join(map(_in_words, rows)) or t("no MCP server is configured here; `coder mcp add` adds one")


async def chosen_text(client: Client, session: SessionId, chosen: str) -> str:
    """The prompt that `/mcp:server:prompt ARGUMENTS` or `/mcp:server:resource TEXT` sends."""
    name, _, rest = chosen.partition(" ")
    server, _, what = name.partition(":")
    if not server or not what:
        raise BadInput(t("it is /mcp:SERVER:PROMPT or /mcp:SERVER:RESOURCE"), t("/mcp shows what there is."))
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
    state = t(row.phase) if not waiting else f"{t(row.phase)} ({t('waiting for a host')}: {retell(waiting)})"
    rows = [
        (t("session"), f"{row.id}  {row.title}".rstrip()),
        (t("state"), state),
        (t("agent"), row.agent),
        (t("model"), row.model),
        (t("mode"), row.mode if row.mode != "default" else f"{row.mode} ({permissions.preset})"),
        (t("sandbox"), permissions.sandbox or t("not known")),
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
