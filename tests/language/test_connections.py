"""Two people at one process, each in a language of their own."""

import asyncio
from pathlib import Path

from coderelay.client.client import NO_CAPABILITIES
from coderelay.client.i18n import current_language, error_in_words, retell, speak, speaking, t
from coderelay.client.slash_commands import SessionCommands
from coderelay.client.typed_line import Slash
from coderelay.protocol.errors import CoderError
from coderelay.protocol.session_events import SessionCreated
from tests.house import ME, InHouse, house, story
from tests.model_server import script

LINES = (("/help", "mode"), ("/nothing-like-it", ""), ("/mode", "nonsense"))


async def told(coder: InHouse, language: str) -> list[str]:
    """What a person at a connection of this language reads, while others are served in between."""
    client = coder.host.connect(NO_CAPABILITIES, language)
    commands = SessionCommands(client, coder.session, ME, lambda _folder, _model: None, lambda _: None)
    read: list[str] = []
    with speaking(client.language):
        for name, rest in LINES:
            try:
                read.append(str(await commands.run(Slash(name.removeprefix("/"), rest))))
            except CoderError as error:
                read.append(error_in_words(error))
            await asyncio.sleep(0)  # the others' turn
    return read


@story
async def test_each_connection_has_its_own_language(tmp_path: Path) -> None:
    async with house(tmp_path, script()) as coder:
        await coder.create()
        english, chinese = await told(coder, "en"), await told(coder, "zh")
        assert all(one != other for one, other in zip(english, chinese, strict=True))
        together = await asyncio.gather(*(told(coder, each) for each in ("zh", "en", "zh", "", "en")))
        assert together == [chinese, english, chinese, english, english]
        (created,) = [each.event for each in await coder.events()]
        assert isinstance(created, SessionCreated)  # nothing of this is in the log


@story
async def test_tasks_of_a_connection_speak_its_language_and_the_process_keeps_its_own(tmp_path: Path) -> None:
    async def says() -> tuple[str, str]:
        await asyncio.sleep(0)
        return t("the prompt is empty"), await asyncio.to_thread(retell, "the prompt is empty")

    speak("zh")
    try:
        with speaking("en"):
            inside = asyncio.create_task(says())
        outside = asyncio.create_task(says())
        assert await inside == ("the prompt is empty",) * 2
        assert await outside == ("提示内容为空",) * 2
        with speaking("en"), speaking("zh"), speaking(""):
            assert current_language() == "zh"
        with speaking("tlh"):
            assert current_language() == "en"
        assert current_language() == "zh"
    finally:
        speak("en")
