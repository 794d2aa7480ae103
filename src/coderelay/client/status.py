"""A session and all that surrounds it, as text."""

from coderelay import __version__
from coderelay.client.client import Client
from coderelay.client.language import retell, t
from coderelay.client.text_width import padded, width_of
from coderelay.protocol.ids import SessionId
from coderelay.protocol.queries import ShowContext, ShowHost, ShowPermissions, ShowSession, WhyWaiting
from coderelay.protocol.summary import Summary


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
