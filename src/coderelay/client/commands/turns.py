"""`/steer`, `/queue`, `/compact`: steer the running turn, edit queued prompts, compact the history."""

from coderelay.client.commands.command import CONVERSATION, Context, SlashCommand
from coderelay.client.language import t
from coderelay.client.slash_line import Prompted
from coderelay.protocol.commands import Accepted, CompactHistory, EditPrompt, RecallPrompt, SendPrompt
from coderelay.protocol.errors import BadInput
from coderelay.protocol.events import PromptAdmitted
from coderelay.protocol.ids import PromptId, new_id
from coderelay.protocol.localized import Localized
from coderelay.protocol.queries import ListPrompts, ShowSession


async def steer(here: Context, text: str) -> str | Prompted:
    """If no turn is running, there is nothing to steer, and the text is an ordinary prompt."""
    if not (await here.client.get(ShowSession(here.session))).turn_open:
        return Prompted(text)
    prompt_id = PromptId(new_id())
    here.on_prompt(prompt_id)
    await here.client.send(SendPrompt(session=here.session, prompt_id=prompt_id, text=text, steer=True, by=here.by))
    return t("(the turn hears it at its next step)")


async def queue(here: Context, rest: str) -> str:
    waiting = await here.client.get(ListPrompts(here.session))
    action, _, more = rest.partition(" ")
    if not action:
        return "\n".join(_listed(waiting)) or t("nothing is queued")
    if action not in ("edit", "drop"):
        raise here.misused()
    number, _, text = more.strip().partition(" ")
    prompt = _numbered(waiting, number)
    if action == "drop":
        recall = RecallPrompt(session=here.session, prompt_id=prompt.prompt_id, by=here.by)
        done = isinstance(await here.client.send(recall), Accepted)
        return t("(taken back)") if done else t("its turn has begun already")
    edit = EditPrompt(session=here.session, prompt_id=prompt.prompt_id, text=text, by=here.by)
    done = isinstance(await here.client.send(edit), Accepted)
    return t("(changed)") if done else t("nothing to change, or its turn has begun already")


async def compact(here: Context, _: str) -> str:
    prompt_id = PromptId(new_id())
    here.on_prompt(prompt_id)
    await here.client.send(CompactHistory(session=here.session, prompt_id=prompt_id, by=here.by))
    return ""


def _listed(waiting: list[PromptAdmitted]) -> list[str]:
    return [
        f"{number}. {t('(steers) ') if each.steer else ''}{each.said.strip().partition(chr(10))[0]}  · {each.by}"
        for number, each in enumerate(waiting, 1)
    ]


def _numbered(waiting: list[PromptAdmitted], number: str) -> PromptAdmitted:
    if not number.isdecimal() or not 1 <= int(number) <= len(waiting):
        shown = repr(number)
        raise BadInput(t("there is no prompt {number} in the queue; /queue shows what there is", number=shown))
    return waiting[int(number) - 1]


COMMANDS = (
    SlashCommand(
        name="steer",
        group=CONVERSATION,
        text=Localized(
            "tell the running turn something; it hears it at its next step", "向正在运行的回合补充说明，下一步生效"
        ),
        run=steer,
        hint="TEXT",
        detail=Localized(
            "Becomes part of the running turn; without one it is a prompt like any other.",
            "并入正在运行的回合；没有回合在运行时等同于普通提示。",
        ),
        example="/steer use tabs",
        remote=True,
    ),
    SlashCommand(
        name="queue",
        group=CONVERSATION,
        text=Localized("what waits for its turn; change or take one back", "排队中的提示；可修改或收回"),
        run=queue,
        hint="[edit N TEXT|drop N]",
        detail=Localized("Changes only prompts whose turn has not begun.", "只改动尚未开始的提示。"),
        example="/queue edit 1 look at the tests first",
        remote=True,
    ),
    SlashCommand(
        name="compact",
        group=CONVERSATION,
        text=Localized("sum up the conversation so far, to make room", "强制执行一次上下文压缩，并显示摘要"),
        run=compact,
        detail=Localized(
            "Asks the model. The log keeps everything; only what is sent from now on is shorter.",
            "会请求模型。日志保留全部内容；只是之后发送的内容变短。",
        ),
        remote=True,
    ),
)
