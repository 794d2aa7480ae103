"""`/steer`, `/queue`, `/compact`: prompts that wait or join, and making room."""

from coderelay.client.commands.command import Context, misused
from coderelay.client.language import t
from coderelay.client.slash import Prompted
from coderelay.protocol.commands import Accepted, CompactHistory, EditPrompt, RecallPrompt, SendPrompt
from coderelay.protocol.errors import BadInput
from coderelay.protocol.events import PromptAdmitted
from coderelay.protocol.ids import PromptId, new_id
from coderelay.protocol.queries import ListPrompts, ShowSession


async def steer(here: Context, text: str) -> str | Prompted:
    """Where no turn runs there is nothing to steer: it is a prompt like any other."""
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
        raise misused("queue")
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
