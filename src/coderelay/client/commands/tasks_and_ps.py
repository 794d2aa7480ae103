"""`/tasks` and `/ps`: what works in the background."""

import time

from coderelay.client.commands.slash_command import SHOW, Context, SlashCommand
from coderelay.client.i18n import retell, t
from coderelay.protocol.background_commands import BackgroundRow, end_in_words
from coderelay.protocol.bilingual_text import Localized
from coderelay.protocol.commands import Accepted, StopBackground, StopTurn
from coderelay.protocol.errors import BadInput
from coderelay.protocol.ids import BackgroundId
from coderelay.protocol.projected_rows import Summary
from coderelay.protocol.queries import (
    ListBackground,
    ListChildren,
)
from coderelay.protocol.text_escaping_and_width import padded, visible


async def tasks(here: Context, rest: str) -> str:
    children = await here.client.get(ListChildren(here.session))
    action, _, number = rest.partition(" ")
    if not action:
        lines = map(_task_line, range(1, len(children) + 1), children)
        return "\n".join(lines) or t("no subagent tasks")
    if action != "stop" or not number.strip().isdecimal():
        raise here.usage_error()
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
        raise here.usage_error()
    wanted = BackgroundId(number.strip())
    stop = StopBackground(session=here.session, background=wanted, by=here.by)
    done = isinstance(await here.client.send(stop), Accepted)
    if not done:
        return t("it has already ended or is stopping")
    return t("(stopping background command {number})", number=wanted)


COMMANDS = (
    SlashCommand(
        name="tasks",
        group=SHOW,
        text=Localized(
            "list the tasks that subagents work on for this session, or stop one",
            "列出子 agent 为本会话执行的任务，或停止其一",
        ),
        run=tasks,
        hint="[stop N]",
        choices=("stop",),
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
        choices=("stop",),
        detail=Localized(
            "`stop` stops that command; without it, nothing changes.", "`stop` 停止该命令；不带它则不作任何改动。"
        ),
        example="/ps stop 1",
        remote=True,
    ),
)


def background_line(row: BackgroundRow) -> str:
    since = time.strftime("%H:%M:%S", time.localtime(row.started_at / 1000))
    how = t("running since {time}", time=since) if row.end is None else retell(end_in_words(row.end))
    return f"{row.id}. {row.command.strip().partition(chr(10))[0]}  · {how}"
