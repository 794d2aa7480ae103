"""A start that this host cannot run is refused before anything is created: the question about a session that does not
exist yet gets the answer that one with the same settings would get."""

import asyncio
from pathlib import Path

import pytest

from coderelay.host.session_worker import Worker
from coderelay.protocol.commands import ConfigureSession
from coderelay.protocol.errors import BadInput
from coderelay.protocol.queries import ListSessions, WhyNotRun, WhyWaiting
from tests.house import ME, InHouse, house, story
from tests.model_server import script


async def both(coder: InHouse, model: str, agent: str) -> tuple[str | None, str | None]:
    """The answer for a new session, and for one that exists with these settings."""
    new = await coder.host.get(WhyNotRun(cwd=str(coder.folder), model=model, agent=agent))
    await coder.create()
    await coder.host.send(ConfigureSession(session=coder.session, by=ME, model=model, agent=agent))
    return new, await coder.host.get(WhyNotRun(coder.session))


@story
async def test_a_new_session_is_judged_like_one_that_exists(tmp_path: Path) -> None:
    async with house(tmp_path, script()) as coder:
        assert await both(coder, "openai:scripted", "native") == (None, None)
        assert await both(coder, "guide", "guide") == (None, None)
        for model, agent, wanted in (
            ("anthropic:claude-sonnet-4-5", "native", "ANTHROPIC_API_KEY"),
            ("nobody:any", "native", "nobody"),
            ("openai:scripted", "claude", "the agent 'claude' is not available here"),
        ):
            new, existing = await both(coder, model, agent)
            assert new == existing
            assert wanted in (new or "")


@story
async def test_folders_that_no_session_can_run_in(tmp_path: Path) -> None:
    async with house(tmp_path, script()) as coder:
        gone = str(tmp_path / "gone")
        assert await coder.host.get(WhyNotRun(cwd=gone)) == f"its folder {gone} does not exist"
        assert await coder.host.get(WhyNotRun(cwd=".")) == ". is not an absolute path"
        (coder.folder / ".coder").mkdir()
        (coder.folder / ".coder" / "config.json").write_text('{"modle": "x"}')
        assert "modle" in (await coder.host.get(WhyNotRun(cwd=str(coder.folder))) or "")
        with pytest.raises(BadInput):
            await coder.host.get(WhyNotRun())
        assert await coder.host.get(ListSessions()) == []


@story
async def test_what_is_not_named_is_what_a_new_session_gets(tmp_path: Path) -> None:
    async with house(tmp_path, script()) as coder:
        folder = str(coder.folder)
        assert await coder.host.get(WhyNotRun(cwd=folder)) is None
        assert await coder.host.get(WhyNotRun(cwd=folder, model="guide")) is None
        assert "DEEPSEEK_API_KEY" in (await coder.host.get(WhyNotRun(cwd=folder, model="deepseek:x")) or "")


@story
async def test_a_wrong_configuration_keeps_a_session_of_the_guide_waiting_and_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Symptom: its worker was started four times a second, and `coder resume` was said to continue it."""
    workers: list[Worker] = []
    run = Worker.run

    async def counted(self: Worker) -> None:
        workers.append(self)
        await run(self)

    monkeypatch.setattr(Worker, "run", counted)
    async with house(tmp_path, script()) as coder:
        await coder.create(agent="guide")
        (coder.folder / ".coder").mkdir()
        config = coder.folder / ".coder" / "config.json"
        config.write_text('{"modle": "x"}')
        await coder.prompt("help")
        await asyncio.sleep(1)  # there is no event to wait for when nothing happens
        assert len(workers) <= 1
        for query in (WhyWaiting(coder.session), WhyNotRun(coder.session)):
            assert "modle" in (await coder.host.get(query) or "")
        config.write_text("{}")
        assert (await coder.ended()).ending == "done"


@story
async def test_a_worker_that_breaks_down_rests_before_it_is_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started = 0

    async def breaks(self: Worker) -> None:
        nonlocal started
        started += 1
        raise BadInput("no reason that anybody thought of")

    run = Worker.run
    monkeypatch.setattr(Worker, "run", breaks)
    async with house(tmp_path, script()) as coder:
        await coder.create(agent="guide")
        await coder.prompt("help")
        await asyncio.sleep(1)
        assert started == 1
        monkeypatch.setattr(Worker, "run", run)
        assert (await coder.ended()).ending == "done"
