"""Commands that a person runs as their own, as stories tell of them."""

import asyncio
from pathlib import Path

from coderelay.client.client import AT_THE_MACHINE
from coderelay.protocol.asks import By
from coderelay.protocol.calls import Finished, Outcome
from coderelay.protocol.commands import Outcome as Answer
from coderelay.protocol.commands import RunShell
from coderelay.protocol.events import CallEnded, CallStarted
from coderelay.protocol.ids import PromptId, new_id
from tests.house import InHouse
from tests.outcomes import in_english

ANNE = By(who="anne", via="terminal")
WAITS = "until [ -e go ]; do sleep .01; done"


async def shell(coder: InHouse, command: str, prompt_id: str | None = None) -> Answer:
    """Types `!command`."""
    prompt = PromptId(prompt_id or new_id())
    run = RunShell(session=coder.session, prompt_id=prompt, command=command, by=ANNE)
    return await coder.host.connect(AT_THE_MACHINE).send(run)


async def outcomes(coder: InHouse) -> list[Outcome]:
    return [in_english(each.event.outcome) for each in await coder.events() if isinstance(each.event, CallEnded)]


async def written(coder: InHouse) -> list[tuple[str, str, int | None]]:
    """What the commands wrote, apart, and their exit codes."""
    ends = await outcomes(coder)
    return [(each.output, each.errors, each.exit_code) for each in ends if isinstance(each, Finished)]


async def started(coder: InHouse) -> None:
    await coder.until(lambda event: isinstance(event, CallStarted))


async def there(path: Path) -> None:
    while not path.exists():  # noqa: ASYNC110 (another process makes it)
        await asyncio.sleep(0.005)
