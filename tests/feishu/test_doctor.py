"""What `coder doctor` says of the bot."""

import json
from pathlib import Path

from coderelay.surfaces.feishu.card_outbox_interface import ChatPlace
from coderelay.testing.feishu_server import FakeFeishu
from tests.coder_process import Coder
from tests.feishu.bot_process import configure, secrets_of
from tests.feishu.platform_bot import platform_bot, settled
from tests.house import story


def _findings(coder: Coder, feishu: FakeFeishu, **env: str) -> dict[str, dict[str, str]]:
    told = json.loads(coder.run("doctor", "--json", env={**secrets_of(feishu), **env}).out)
    return {each["what"]: each for each in told["findings"]}


def test_the_doctor_names_the_cards_that_could_not_be_sent(feishu: FakeFeishu, tmp_path: Path, folder: Path) -> None:
    coder = Coder(tmp_path / "home", folder, None)
    configure(coder, feishu)
    found = _findings(coder, feishu)
    assert (found["feishu"]["found"], found["feishu"]["state"]) == (feishu.app_id, "found")
    assert "feishu cards" not in found

    @story
    async def fail() -> None:
        async with platform_bot(feishu, coder.home, name=f"feishu:{feishu.app_id}") as bot:
            await bot.outbox.show("k", ChatPlace("oc_1"), {"schema": "3.0"})
            await settled(bot)

    fail()
    cards = _findings(coder, feishu)["feishu cards"]
    assert cards["state"] == "missing"
    assert cards["found"].startswith("1 cards could not be sent; the last one to oc_1: 230099: schema '3.0'")
    assert _findings(coder, feishu, FEISHU_APP_SECRET="")["feishu"]["found"].endswith("FEISHU_APP_SECRET is not set")


def test_the_doctor_says_nothing_of_a_bot_that_nobody_has(tmp_path: Path, folder: Path) -> None:
    coder = Coder(tmp_path / "home", folder, None)
    told = json.loads(coder.run("doctor", "--json").out)
    assert not [each for each in told["findings"] if each["what"].startswith("feishu")]
