"""Agents with sessions of their own: their ids come late, or never (X-09, B-43, B-52)."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from coderelay.protocol.commands import ClearHistory, ConfigureSession
from coderelay.protocol.errors import BadInput
from coderelay.protocol.events import AgentAttached
from coderelay.protocol.queries import ShowSession
from coderelay.testing.scripted_external_agent import Attaches, Fails, Says, Step
from tests.blocking.scene import begin, blocking_house, steps
from tests.house import ME, story

pytestmark = pytest.mark.quick


@story
async def test_x09_the_id_of_the_agents_own_session_comes_with_its_first_turn(tmp_path: Path) -> None:
    job = steps(Attaches("theirs-1"), Says("hello"))
    async with blocking_house(tmp_path, job, has_own_session_ids=True) as coder:
        await coder.create("default", agent="blocking")
        created = await coder.summary()
        assert created is not None
        assert created.agent_session_id is None
        await coder.prompt("go")
        await coder.ended()
        known = await coder.summary()
        assert known is not None
        assert known.agent_session_id == "theirs-1"
        await coder.prompt("go on")
        await coder.ended(2)
        attached = [each.event for each in await coder.events() if isinstance(each.event, AgentAttached)]
        (event,) = attached  # told again, it is not written again
        assert (event.agent, event.model, event.tools) == ("blocking", "its-model", ("Bash",))


@story
async def test_x09_the_id_may_change(tmp_path: Path) -> None:
    job = steps(Attaches("theirs-1"), Attaches("theirs-2"), Says("hello"))
    async with blocking_house(tmp_path, job, has_own_session_ids=True) as coder:
        await begin(coder)
        await coder.ended()
        known = await coder.summary()
        assert known is not None
        assert known.agent_session_id == "theirs-2"


@story
async def test_b43_b52_an_agent_that_failed_before_it_had_an_id_cannot_be_continued(tmp_path: Path) -> None:
    async with blocking_house(tmp_path, steps(Fails("no network")), has_own_session_ids=True) as coder:
        await begin(coder)
        assert (await coder.ended()).ending == "failed"
        with pytest.raises(BadInput) as refused:
            await coder.prompt("go on")
        assert str(refused.value) == "Session has no resume id yet."


@story
async def test_x09_an_agent_that_is_chosen_later_begins_a_session_of_its_own(tmp_path: Path) -> None:
    """It had no turn here before, so there is nothing that it could have continued."""
    job = steps(Attaches("theirs-1"), Says("hello"))
    async with blocking_house(tmp_path, job, has_own_session_ids=True) as coder:
        await coder.create(agent="guide")
        await coder.prompt("help")
        await coder.ended()
        ids: list[str | None] = []
        for turn, agent in enumerate(("blocking", "guide", "blocking"), 2):
            await coder.host.send(ConfigureSession(session=coder.session, agent=agent, by=ME))
            ids.append((await coder.host.get(ShowSession(coder.session))).agent_session_id)
            await coder.prompt("help")
            await coder.ended(turn)
        assert ids == [None, coder.session, "theirs-1"]


@story
async def test_x09_a_session_of_an_agent_without_ids_can_always_be_continued(tmp_path: Path) -> None:
    async with blocking_house(tmp_path, steps(Fails("no network"))) as coder:
        await begin(coder)
        await coder.ended()
        known = await coder.summary()
        assert known is not None
        assert known.agent_session_id == coder.session
        await coder.prompt("go on")
        assert (await coder.ended(2)).ending == "failed"


@story
async def test_x09_a59_after_a_cleared_history_the_agent_begins_a_session_of_its_own_anew(tmp_path: Path) -> None:
    ids = iter(["theirs-1", "theirs-2"])

    def job(prompt: str) -> Sequence[Step]:
        return (Attaches(next(ids)), Says("hello"))

    async with blocking_house(tmp_path, job, has_own_session_ids=True) as coder:
        await begin(coder)
        await coder.ended()
        await coder.host.send(ClearHistory(session=coder.session, by=ME))
        cleared = await coder.summary()
        assert cleared is not None
        assert cleared.agent_session_id is None
        await coder.prompt("begin again")
        assert (await coder.ended(2)).ending == "done"
        known = await coder.summary()
        assert known is not None
        assert known.agent_session_id == "theirs-2"
