"""Commands in the background, as stories tell of them."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from coderelay.agents.native.native_agent import NativeAgent
from coderelay.app import App
from coderelay.protocol.background_commands import End
from coderelay.protocol.calls import Failed, Finished, Outcome
from coderelay.protocol.commands import Outcome as Answer
from coderelay.protocol.commands import StopBackground
from coderelay.protocol.events import AnyEvent, BackgroundEnded, CallEnded
from coderelay.protocol.ids import BackgroundId
from coderelay.session.state import SessionSettings
from coderelay.tools.bash import Bash
from coderelay.tools.tool import Tool
from tests.house import ME, InHouse
from tests.model_server import Call, call
from tests.outcomes import in_english
from tests.patience import PATIENCE

ONE = BackgroundId("1")
RUNS = "echo $$ > pid; exec sleep 600"  # for as long as it is let


class WatchingHouse(App):
    """Watches the first moment of a background command for as long as it takes, for those that end by themselves."""

    first_moment = PATIENCE

    def tools(self) -> list[Tool[Any]]:
        bash = Bash(self.bash_limits, first_moment=self.first_moment)
        return [bash if isinstance(each, Bash) else each for each in super().tools()]


class HastyHouse(WatchingHouse):
    """Does not watch it at all, for those that must be seen to run."""

    first_moment = 0.0


class TiredHouse(HastyHouse):
    """Takes no turn any more once there is a file `tired` in the folder."""

    def native_agent(self) -> NativeAgent:
        agent = super().native_agent()
        cannot_run = agent.cannot_run

        def is_tired(settings: SessionSettings) -> str | None:
            return "tired" if os.path.exists(os.path.join(settings.cwd, "tired")) else cannot_run(settings)

        agent.cannot_run = is_tired
        return agent


def in_background(command: str) -> Call:
    return call("bash", command=command, background=True)


def output_of(number: str) -> Call:
    return call("bash_output", id=number)


def stop_of(number: str) -> Call:
    return call("bash_stop", id=number)


async def outcomes(coder: InHouse) -> list[Outcome]:
    return [in_english(each.event.outcome) for each in await coder.events() if isinstance(each.event, CallEnded)]


async def texts(coder: InHouse) -> list[str]:
    """What the calls said, in order."""
    return [_text(each) for each in await outcomes(coder)]


def _text(outcome: Outcome) -> str:
    match outcome:
        case Finished():
            return outcome.output
        case Failed():
            return outcome.message
        case _:
            return str(outcome)


async def ends(coder: InHouse) -> list[tuple[str, End]]:
    events = [each.event for each in await coder.events()]
    return [(each.background_id, each.end) for each in events if isinstance(each, BackgroundEnded)]


def is_end(event: AnyEvent) -> bool:
    return isinstance(event, BackgroundEnded)


async def stop(coder: InHouse, number: str = ONE) -> Answer:
    command = StopBackground(session=coder.session, background=BackgroundId(number), by=ME)
    return await coder.host.send(command)


async def eventually(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not is_so():  # noqa: ASYNC110 - another process brings it about
            await asyncio.sleep(0.01)


async def pid_in(folder: Path) -> int:
    """Of the command that writes it there."""
    file = folder / "pid"
    await eventually(lambda: file.exists() and file.read_text().endswith("\n"))
    return int(file.read_text())


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
