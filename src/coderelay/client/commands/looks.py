"""Commands that only show something: what the session has at hand, and what it used."""

from coderelay.client.background import background_line
from coderelay.client.commands.command import Context, misused
from coderelay.client.language import t
from coderelay.client.mcp_commands import chosen_text, servers_in_words
from coderelay.client.overview import agents_in_words, context_in_words, skills_in_words, tools_in_words
from coderelay.client.slash import Prompted
from coderelay.client.status import status_in_words
from coderelay.client.tasks import list_or_stop
from coderelay.client.todos import todo_lines
from coderelay.client.typed_commands import help_of, help_text
from coderelay.protocol.commands import Accepted, StopBackground
from coderelay.protocol.ids import BackgroundId
from coderelay.protocol.queries import (
    ListAgents,
    ListBackground,
    ListSkills,
    ListTodos,
    ListTools,
    ShowContext,
    ShowSession,
)


async def show_help(here: Context, name: str) -> str:
    if name:
        return await help_of(here.client, here.session, name)
    told = await help_text(here.client, here.session)
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
    return await list_or_stop(here.client, here.session, rest, here.by)


async def background(here: Context, rest: str) -> str:
    action, _, number = rest.partition(" ")
    if not action:
        rows = await here.client.get(ListBackground(here.session))
        return "\n".join(map(background_line, rows)) or t("no command was left running in the background")
    if action != "stop" or not number.strip():
        raise misused("ps")
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
