"""Slash commands that show a session: `/status`, `/context`, `/todos`, `/cost`."""

from coderelay import __version__
from coderelay.client.client import Client
from coderelay.client.commands.modes_permissions_trust import permissions_here, profile_in_words, unconfined_note
from coderelay.client.commands.slash_command import ONLY_SHOWS, SHOW, Context, SlashCommand
from coderelay.client.i18n import retell, t
from coderelay.client.permission_ask_text import sandbox_in_words
from coderelay.client.todo_text import todo_lines
from coderelay.protocol.bilingual_text import Localized
from coderelay.protocol.ids import SessionId
from coderelay.protocol.projected_rows import Summary
from coderelay.protocol.queries import (
    ListTodos,
    ShowContext,
    ShowHost,
    ShowSession,
    WhyWaiting,
)
from coderelay.protocol.query_results import (
    ContextShown,
)
from coderelay.protocol.text_escaping_and_width import padded, width_of


async def status(here: Context, _: str) -> str:
    return await status_in_words(here.client, here.session)


async def context(here: Context, _: str) -> str:
    return context_in_words(await here.client.get(ShowContext(here.session)))


async def todos(here: Context, _: str) -> str:
    return "\n".join(todo_lines(await here.client.get(ListTodos(here.session)))) or t("no todo list yet")


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


def context_in_words(shown: ContextShown) -> str:
    used = sum(tokens for _, tokens in shown.parts)
    parts = [(t(part), tokens) for part, tokens in shown.parts]
    rows = [*parts, *([(t("free"), max(0, shown.window - used))] if shown.window else [])]
    name = max((width_of(part) for part, _ in rows), default=0)
    number = max((len(f"{tokens:,}") for _, tokens in rows), default=0)
    lines = [
        f"  {padded(part, name)}  {f'{tokens:,}'.rjust(number)}{_share(tokens, shown.window)}"
        for part, tokens in rows
    ]
    how = t("counted by the provider; the breakdown is an estimate") if shown.counted else t("estimated")
    first = t("{model}: {used} tokens, {how}", model=shown.model, used=_of_window(used, shown.window), how=how)
    return "\n".join([first, *lines])


def _of_window(used: int, window: int) -> str:
    return t("{used} of {window}", used=f"{used:,}", window=f"{window:,}") if window else f"{used:,}"


def _share(tokens: int, window: int) -> str:
    return f"  {100 * tokens / window:5.1f} %" if window else ""


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
        name="cost",
        group=SHOW,
        text=Localized("show the tokens that this session used and what they cost", "查看本会话使用的 tokens 与费用"),
        run=cost,
        detail=ONLY_SHOWS,
        remote=True,
    ),
)


async def status_in_words(client: Client, session: SessionId) -> str:
    row = await client.get(ShowSession(session))
    permissions = await permissions_here(client, session)
    context = await client.get(ShowContext(session))
    host = await client.get(ShowHost(session))
    waiting = await client.get(WhyWaiting(session)) if host.owner == "nobody" else None
    state = t(row.phase) if not waiting else f"{t(row.phase)} ({t('interrupted; {reason}', reason=retell(waiting))})"
    rows = [
        (t("session"), f"{row.id}  {row.title}".rstrip()),
        (t("state"), state),
        (t("agent"), row.agent),
        (t("model"), row.model),
        (t("mode"), f"{row.mode} ({permissions.preset})" if row.mode == "default" and permissions else row.mode),
        *([(t("profile"), profile_in_words(row.profile))] if row.profile else []),
        *([(t("sandbox"), sandbox_in_words(permissions) + unconfined_note(permissions))] if permissions else []),
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
