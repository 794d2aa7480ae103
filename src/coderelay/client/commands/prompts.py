"""`/init` and `/review`: prompts that people send so often that they have a command."""

from coderelay.client.commands.command import Context
from coderelay.client.slash import Prompted
from coderelay.client.standing_prompts import init_prompt, review_prompt


async def init(_: Context, wish: str) -> Prompted:
    return Prompted(init_prompt(wish))


async def review(_: Context, of: str) -> Prompted:
    return Prompted(review_prompt(of))
