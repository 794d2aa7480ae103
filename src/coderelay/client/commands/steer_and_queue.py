"""`/steer` and `/queue`: prompts for the running turn, and those that wait."""

from coderelay.client.commands.slash_command import CONVERSATION, Context, SlashCommand
from coderelay.client.i18n import t
from coderelay.client.typed_line import PromptToSend
from coderelay.protocol.bilingual_text import Localized
from coderelay.protocol.commands import Accepted, EditPrompt, RecallPrompt, SendPrompt
from coderelay.protocol.errors import BadInput
from coderelay.protocol.events import PromptAdmitted
from coderelay.protocol.ids import PromptId, new_id
from coderelay.protocol.queries import ListPrompts, ShowSession


async def steer(here: Context, text: str) -> str | PromptToSend:
    """If no turn is running, there is nothing to steer, and the text is an ordinary prompt."""
    if not (await here.client.get(ShowSession(here.session))).turn_open:
        return PromptToSend(text)
    prompt_id = PromptId(new_id())
    here.on_prompt(prompt_id)
    await here.client.send(SendPrompt(session=here.session, prompt_id=prompt_id, text=text, steer=True, by=here.by))
    return t("(sent; the model reads it at its next step)")


async def queue(here: Context, rest: str) -> str:
    waiting = await here.client.get(ListPrompts(here.session))
    action, _, more = rest.partition(" ")
    if not action:
        return "\n".join(_listed(waiting)) or t("nothing is queued")
    if action not in ("edit", "drop"):
        raise here.usage_error()
    number, _, text = more.strip().partition(" ")
    prompt = _numbered(waiting, number)
    if action == "drop":
        recall = RecallPrompt(session=here.session, prompt_id=prompt.prompt_id, by=here.by)
        done = isinstance(await here.client.send(recall), Accepted)
        return t("(removed from the queue)") if done else t("not removed: its turn has already started")
    edit = EditPrompt(session=here.session, prompt_id=prompt.prompt_id, text=text, by=here.by)
    done = isinstance(await here.client.send(edit), Accepted)
    return t("(changed)") if done else t("not changed: the text is the same, or its turn has already started")


def _listed(waiting: list[PromptAdmitted]) -> list[str]:
    return [_line(number, each) for number, each in enumerate(waiting, 1)]


def _line(number: int, prompt: PromptAdmitted) -> str:
    steers = t("(for the running turn) ") if prompt.steer else ""
    return f"{number}. {steers}{prompt.typed_text.strip().partition(chr(10))[0]}  · {prompt.by}"


def _numbered(waiting: list[PromptAdmitted], number: str) -> PromptAdmitted:
    if not number.isdecimal() or not 1 <= int(number) <= len(waiting):
        shown = repr(number)
        raise BadInput(t("no queued prompt {number}; /queue lists them", number=shown))
    return waiting[int(number) - 1]


COMMANDS = (
    SlashCommand(
        name="steer",
        group=CONVERSATION,
        text=Localized(
            "send a message to the running turn; the model reads it at the next step",
            "向正在运行的回合补充说明，模型在下一步读取",
        ),
        run=steer,
        hint="TEXT",
        detail=Localized(
            "Becomes part of the running turn; if no turn is running, it is sent as an ordinary prompt.",
            "并入正在运行的回合；没有回合在运行时作为普通提示发送。",
        ),
        example="/steer use tabs",
        remote=True,
    ),
    SlashCommand(
        name="queue",
        group=CONVERSATION,
        text=Localized("list the queued prompts, or edit or remove one", "列出排队的提示；可修改或移除"),
        run=queue,
        hint="[edit N TEXT|drop N]",
        choices=("edit", "drop"),
        detail=Localized(
            "Only prompts whose turn has not started can be changed. A prompt of somebody else that you edit counts "
            "as yours.",
            "只能改动回合尚未开始的提示。编辑他人的提示后，它就算作你的。",
        ),
        example="/queue edit 1 look at the tests first",
        remote=True,
    ),
)
