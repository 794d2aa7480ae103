"""`/init` and `/review`: prompts that people send so often that they have a command."""

from coderelay.client.commands.command import WORK, Context, SlashCommand
from coderelay.client.slash_line import Prompted
from coderelay.client.standing_prompts import init_prompt, review_prompt
from coderelay.protocol.localized import Localized


async def init(_: Context, wish: str) -> Prompted:
    return Prompted(init_prompt(wish))


async def review(_: Context, of: str) -> Prompted:
    return Prompted(review_prompt(of))


COMMANDS = (
    SlashCommand(
        name="init",
        group=WORK,
        text=Localized(
            "look at the project and write AGENTS.md, or improve the one there is", "查看项目并编写或改进 AGENTS.md"
        ),
        run=init,
        hint="[TEXT]",
        detail=Localized(
            "Sends a prompt; what the agent writes then needs the same asking as ever.",
            "发送一个提示；agent 之后的写入照常需要审批。",
        ),
        example="/init in German",
    ),
    SlashCommand(
        name="review",
        group=WORK,
        text=Localized(
            "review what has changed since the last commit, or in a range like main..HEAD",
            "评审自上次提交以来的改动，或 main..HEAD 这样的范围",
        ),
        run=review,
        hint="[RANGE]",
        detail=Localized(
            "Sends a prompt that tells the agent to change nothing.", "发送一个提示，要求 agent 不作任何改动。"
        ),
        example="/review main..HEAD",
        remote=True,
    ),
)
