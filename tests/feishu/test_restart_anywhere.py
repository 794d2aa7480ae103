"""A bot ends after any number of cards, and the next one goes on: every card is there once, in its last state."""

import asyncio
from pathlib import Path

from coderelay.surfaces.feishu.card_outbox_interface import Card, ChatPlace
from tests.feishu.chat_house import CHAT, ChatHouse, chat_house
from tests.feishu.recording_outbox import RecordingOutbox, Shown
from tests.house import story
from tests.model_server import Answer, History, bash, by_history, call, proposes, says

_DONE = ["正在执行任务...", "已确认", "继续执行...", "已回复", "继续执行...", "任务完成"]


class StoppingOutbox(RecordingOutbox):
    """Says when so many cards were shown, and shows no more."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most
        self.shows = 0
        self.is_full = asyncio.Event()

    async def show(self, key: str, place: ChatPlace, card: Card) -> None:
        if self.shows == self.most:
            self.is_full.set()
            await asyncio.Event().wait()
        self.shows += 1
        await super().show(key, place, card)


def _model(history: History) -> Answer:
    match sum(said.role == "tool" for said in history):
        case 0:
            return proposes(bash("rm -f x; echo once >> effects"))
        case 1:
            return proposes(call("ask_user", questions=[{"question": "Name?"}]))
        case _:
            return says("done")


@story
async def test_e19_a_bot_that_ends_anywhere_is_carried_on(tmp_path: Path) -> None:
    """The person does what the cards ask for, whenever a card asks."""
    cuts = 0
    for most in range(1, 30):
        root = tmp_path / str(most)
        outbox = StoppingOutbox(most)
        was_cut = await _talk(root, outbox)
        outbox.most = -1
        outbox.is_full.clear()
        await _talk(root, outbox)
        assert [each.card.title for each in outbox.in_chat(CHAT)] == _DONE, most
        effects = root / "work" / "effects"  # a call that was cut off may not have run, and is never run again
        assert not effects.exists() or effects.read_text() == "once\n", most
        cuts += was_cut
        if not was_cut:
            break
    assert cuts > 6


async def _talk(root: Path, outbox: StoppingOutbox) -> bool:
    """Until the turn is over or no card is shown any more. Returns which."""
    async with chat_house(root, by_history(_model), outbox=outbox) as bot:
        if not await bot.sessions():
            await bot.say("go", message_id="om_first")
        answering = asyncio.create_task(_answer(bot))
        full = asyncio.create_task(outbox.is_full.wait())
        await asyncio.wait({answering, full}, return_when=asyncio.FIRST_COMPLETED)
        was_cut = not answering.done()
        for task in (answering, full):
            task.cancel()
        await asyncio.gather(answering, full, return_exceptions=True)
        return was_cut


async def _answer(bot: ChatHouse) -> None:
    """Do what the cards ask for, until the result is there."""
    answered: set[str] = set()

    def asking() -> Shown | None:
        found = [each for each in bot.outbox.in_chat(CHAT) if each.card.title in ("请确认", "等待回复", "任务完成")]
        return next((each for each in found if each.key not in answered), None)

    while True:
        shown = await bot.outbox.until(asking)
        answered.add(shown.key)
        match shown.card.title:
            case "请确认":
                await bot.click(shown, "确认")
            case "等待回复":
                await bot.say("Anne", message_id="om_name")
            case _:
                return
