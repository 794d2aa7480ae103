"""Several people at one log: approvals "for me" and budgets of a day belong to one person each."""

from pathlib import Path

import pytest

from coderelay.protocol.asks import Allow, Approval, By
from coderelay.protocol.commands import EditPrompt, RevokeApproval, SendPrompt
from coderelay.protocol.errors import BadInput
from coderelay.protocol.events import (
    AnyEvent,
    ApprovalGranted,
    BatchOpened,
    CallStarted,
    MessageAdded,
    Recorded,
    TurnEnded,
)
from coderelay.protocol.ids import APPROVALS, AskId, PromptId, new_id
from coderelay.protocol.queries import ListApprovals, ShowSession
from tests.children.conversations import task
from tests.host.test_spending import budget_ask, costly
from tests.house import InHouse, house, story
from tests.model_server import bash, proposes, says, script

ANNE, BEN = By("anne", "terminal"), By("ben", "web")
MAKE = proposes(bash("make"))


async def sends(coder: InHouse, by: By, text: str = "go", *, steer: bool = False) -> None:
    prompt = PromptId(new_id())
    await coder.host.send(SendPrompt(session=coder.session, prompt_id=prompt, text=text, by=by, steer=steer))


async def verdicts(coder: InHouse) -> list[str]:
    """What was decided of every call so far."""
    batches = [each.event for each in await coder.events() if isinstance(each.event, BatchOpened)]
    return [judged.verdict for batch in batches for judged in batch.judged]


async def waits_or_ends(coder: InHouse, after: int) -> None:
    def is_it(event: AnyEvent) -> bool:
        return isinstance(event, TurnEnded) or (isinstance(event, BatchOpened) and any(x.ask for x in event.judged))

    await coder.until(is_it, after)


async def allowed_for_anne(coder: InHouse) -> AskId:
    """Anne's turn in a session of hers, in which she allows `make` wherever she works."""
    await coder.create("default")
    await sends(coder, ANNE)
    (ask,) = await coder.asks()
    await coder.answer(ask, Allow("person"), ANNE)
    await coder.ended()
    return ask.id


@story
async def test_an_approval_for_me_counts_for_the_person_who_gave_it(tmp_path: Path) -> None:
    async with house(tmp_path, script(*[MAKE, says("made")] * 3)) as coder:
        await allowed_for_anne(coder)
        await coder.create("default")
        await sends(coder, ANNE)
        await coder.ended()
        head = (await coder.events())[-1].seq
        await sends(coder, BEN)  # in the same session: what counts is whose turn it is
        await waits_or_ends(coder, head)
        assert await verdicts(coder) == ["allow", "ask"]


@story
async def test_who_steers_a_turn_does_not_get_the_approvals_of_the_person_who_began_it(tmp_path: Path) -> None:
    waits = proposes(bash("echo go; until [ -e go ]; do sleep 0.01; done"))
    async with house(tmp_path, script(MAKE, says("made"), waits, MAKE, says("made"))) as coder:
        await allowed_for_anne(coder)
        await coder.create("default")
        await sends(coder, ANNE)
        (ask,) = await coder.asks()
        await coder.answer(ask, Allow(), ANNE)
        await coder.until(lambda event: isinstance(event, CallStarted))
        head = (await coder.events())[-1].seq
        await sends(coder, BEN, "now make it", steer=True)
        (coder.folder / "go").touch()
        await waits_or_ends(coder, head)
        assert await verdicts(coder) == ["ask", "ask"]


@story
async def test_what_somebody_writes_into_a_queued_prompt_does_not_get_the_approvals_of_who_sent_it(
    tmp_path: Path,
) -> None:
    waits = proposes(bash("echo go; until [ -e go ]; do sleep 0.01; done"))
    async with house(tmp_path, script(MAKE, says("made"), waits, says("waited"), MAKE, says("made"))) as coder:
        await allowed_for_anne(coder)
        await coder.create("default")
        await sends(coder, ANNE)
        (ask,) = await coder.asks()
        await coder.answer(ask, Allow(), ANNE)
        await coder.until(lambda event: isinstance(event, CallStarted))
        await _queues_what_ben_edits(coder)
        (coder.folder / "go").touch()
        end = await coder.until(lambda event: isinstance(event, TurnEnded))
        await waits_or_ends(coder, end.seq)
        assert await verdicts(coder) == ["ask", "ask"]


@story
async def test_a_task_has_the_approvals_of_the_person_whose_turn_gave_it(tmp_path: Path) -> None:
    async with house(
        tmp_path, script(MAKE, says("made"), proposes(task("build", "make it")), MAKE, *[says("x")] * 2)
    ) as coder:
        await allowed_for_anne(coder)
        await coder.create("default")
        await sends(coder, ANNE)
        assert (await coder.ended()).ending == "done"


@story
async def test_approvals_are_listed_and_revoked_by_their_person(tmp_path: Path) -> None:
    async with house(tmp_path, script(MAKE, says("made"))) as coder:
        approval = await allowed_for_anne(coder)
        (listed,) = await coder.host.get(ListApprovals(person="anne"))
        assert (listed.id, listed.person, listed.scope) == (approval, "anne", "person")
        assert await coder.host.get(ListApprovals(person="ben")) == []
        with pytest.raises(BadInput, match="only anne can revoke this approval"):
            await coder.host.send(RevokeApproval(session=APPROVALS, approval=approval, by=BEN))
        await coder.host.send(RevokeApproval(session=APPROVALS, approval=approval, by=By("anne", "web")))
        assert await coder.host.get(ListApprovals()) == []


@story
async def test_an_approval_of_an_old_log_counts_for_everybody(tmp_path: Path) -> None:
    old = Approval(AskId("old"), "person", "bash", "make", command="make", sandbox="none")
    async with house(tmp_path, script(MAKE, says("made"))) as coder:
        record = await coder.host.load(APPROVALS)
        await record.append(lambda _: [ApprovalGranted(approval=old, by=ANNE)])
        await coder.create("default")
        await sends(coder, BEN)
        assert (await coder.ended()).ending == "done"
        assert await coder.host.get(ListApprovals(person="ben")) == [old]


@story
async def test_the_budget_of_a_day_is_the_persons_who_sent_the_prompt(tmp_path: Path) -> None:
    costly(tmp_path, {"day": 0.01})
    async with house(tmp_path, script(says("one"), says("two"), says("three"))) as coder:
        await coder.create()
        await sends(coder, ANNE)
        await coder.ended()
        await sends(coder, BEN)  # in the session where Anne has spent hers
        assert (await coder.ended(2)).text == "two"
        head = (await coder.events())[-1].seq
        await sends(coder, ANNE)
        ask = await budget_ask(coder, head)
        assert (ask.person, ask.spent) == ("anne", pytest.approx(_cost(await coder.events(), 0)))
        await coder.answer(ask)
        assert (await coder.ended(3)).text == "three"
        head = (await coder.events())[-1].seq
        await sends(coder, BEN)  # what was raised is Anne's
        assert (await budget_ask(coder, head)).person == "ben"


@story
async def test_who_edits_a_queued_prompt_pays_for_its_turn(tmp_path: Path) -> None:
    costly(tmp_path, {"day": 0.01})
    async with house(tmp_path, script(proposes(bash("echo one")), says("one"), says("two"))) as coder:
        await coder.create()
        await sends(coder, ANNE)
        ask = await budget_ask(coder)
        await _queues_what_ben_edits(coder)
        await coder.answer(ask, by=ANNE)
        assert (await coder.ended(2)).text == "two"
        costs = (await coder.host.get(ShowSession(coder.session))).day_costs
        spent = [_cost(await coder.events(), step) or 0.0 for step in range(3)]
        assert costs == {"anne": pytest.approx(spent[0] + spent[1]), "ben": pytest.approx(spent[2])}


async def _queues_what_ben_edits(coder: InHouse) -> None:
    queued = PromptId(new_id())
    await coder.host.send(SendPrompt(session=coder.session, prompt_id=queued, text="the rest", by=ANNE))
    await coder.host.send(EditPrompt(session=coder.session, prompt_id=queued, text="now make it", by=BEN))


def _cost(log: list[Recorded], turn: int) -> float | None:
    return [each.event.cost for each in log if isinstance(each.event, MessageAdded)][turn]
