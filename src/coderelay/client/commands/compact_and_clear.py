"""`/compact` and `/clear`: the history that the model knows."""

from coderelay.client.commands.slash_command import CONVERSATION, Context, SlashCommand
from coderelay.client.i18n import t
from coderelay.protocol.bilingual_text import Localized
from coderelay.protocol.commands import Accepted, ClearHistory, CompactHistory
from coderelay.protocol.ids import PromptId, new_id


async def compact(here: Context, _: str) -> str:
    prompt_id = PromptId(new_id())
    here.on_prompt(prompt_id)
    await here.client.send(CompactHistory(session=here.session, prompt_id=prompt_id, by=here.by))
    return ""


async def clear(here: Context, _: str) -> str:
    done = isinstance(await here.client.send(ClearHistory(session=here.session, by=here.by)), Accepted)
    return t("(context cleared; the model starts fresh)") if done else t("the context is already empty")


COMMANDS = (
    SlashCommand(
        name="compact",
        group=CONVERSATION,
        text=Localized(
            "compact the context: replace the conversation so far by a summary", "强制执行一次上下文压缩，并显示摘要"
        ),
        run=compact,
        detail=Localized(
            "Sends a request to the model. The log keeps everything; only what the model is sent from now on "
            "is shorter.",
            "会请求模型。日志保留全部内容；只是之后发送给模型的内容变短。",
        ),
        remote=True,
    ),
    SlashCommand(
        name="clear",
        group=CONVERSATION,
        text=Localized(
            "clear the context: the model starts over in this session", "清空本会话的上下文，模型从头开始"
        ),
        run=clear,
        detail=Localized(
            "Cannot be used while a turn is running. The log keeps everything, /undo still works, and the settings "
            "stay as they are; /new starts another session instead.",
            "回合运行时不可用。日志保留全部内容，/undo 仍可用，设置不变；/new 则另建会话。",
        ),
        remote=True,
    ),
)
