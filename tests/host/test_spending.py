"""Budgets: what was spent is counted, and when it is as much as was allowed a person is asked."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from coderelay.protocol.asks import Allow, BudgetAsk, By, Deny
from coderelay.protocol.commands import Accepted, Answered, CompactHistory
from coderelay.protocol.events import AskOpened, MessageAdded, TurnEnded, TurnStarted
from coderelay.protocol.ids import PromptId
from coderelay.protocol.projected_rows import day_of
from coderelay.protocol.queries import ListAsks
from coderelay.protocol.wall_clock import now
from tests.config.config_files import Places
from tests.house import ME, InHouse, house, story
from tests.model_server import bash, proposes, says, script

BEN = By("ben", "web")


def costly(root: Path, budget: Mapping[str, float], **known: object) -> None:
    """Every request costs dollars."""
    card = {"price": {"input": 10_000, "output": 0}, **known}
    Places(root).write({"budget": budget, "providers": {"openai": {"models": {"scripted": card}}}})


async def budget_ask(coder: InHouse, after: int = 0) -> BudgetAsk:
    """The first after a cursor; there is none if the turn ends before."""
    opened = (await coder.until(lambda event: isinstance(event, AskOpened | TurnEnded), after)).event
    assert isinstance(opened, AskOpened)
    assert isinstance(opened.ask, BudgetAsk)
    return opened.ask


async def cost(coder: InHouse) -> float:
    summary = await coder.summary()
    assert summary is not None
    assert summary.cost is not None
    return summary.cost


@pytest.mark.quick
@story
async def test_a_used_up_budget_is_asked_about_and_allowed_from_another_process(tmp_path: Path) -> None:
    costly(tmp_path, {"session": 0.01})
    async with (
        house(tmp_path, script(proposes(bash("echo one >> did")), says("done"))) as first,
        house(tmp_path, script()) as second,
    ):
        await first.prompt("go")
        ask = await budget_ask(first)
        spent = await cost(first)
        assert ask == BudgetAsk(ask.id, span="session", spent=spent, limit=0.01, until=spent + 0.01)
        summary = await first.summary()
        assert summary is not None
        assert (summary.phase, summary.owner, len(first.server.requests)) == ("waiting", None, 1)
        await second.open(first.session)
        assert [each.ask for each in await second.host.get(ListAsks())] == [ask]
        assert isinstance(await second.answer(ask, Allow(), BEN), Accepted)
        late = await first.answer(ask, Deny())
        assert late == Answered(Allow(), BEN, late.head)
        ended = await second.ended()
        assert (ended.ending, ended.text, ended.cost) == ("done", "done", await cost(first))
        assert (first.folder / "did").read_text() == "one\n"
        assert await first.host.get(ListAsks()) == []


@pytest.mark.quick
@story
async def test_denied_the_turn_stops_and_nothing_more_is_spent(tmp_path: Path) -> None:
    costly(tmp_path, {"session": 0.01})
    async with house(tmp_path, script(proposes(bash("true")), says("never"))) as coder:
        await coder.prompt("go")
        await coder.answer(await budget_ask(coder), Deny("enough"))
        assert (await coder.ended()).ending == "stopped"
        assert len(coder.server.requests) == 1
        assert await coder.story() == ["user: go", "bash: ok", "(stopped)"]


@story
async def test_the_question_outlives_every_process_and_so_does_the_answer(tmp_path: Path) -> None:
    costly(tmp_path, {"session": 0.01})
    async with house(tmp_path, script(proposes(bash("echo one >> did")))) as first:
        await first.prompt("go")
        ask = await budget_ask(first)
    async with house(tmp_path, script(proposes(bash("echo two >> did")))) as second:
        await second.open(first.session)
        answered = await second.answer(ask)
        assert isinstance(answered, Accepted)
        again = await budget_ask(second, after=answered.head)
        assert again.limit == 0.01
        assert again.spent == await cost(second) > ask.until
    async with house(tmp_path, script(says("done"))) as third:
        await third.open(first.session)
        await third.answer(again)
        assert (await third.ended()).text == "done"
        assert (third.folder / "did").read_text() == "one\ntwo\n"


@story
async def test_what_is_allowed_is_not_asked_about_again(tmp_path: Path) -> None:
    costly(tmp_path, {"session": 15.0})
    answers = script(*(proposes(bash(f"echo {number}")) for number in range(3)), says("done"))
    async with house(tmp_path, answers) as coder:
        await coder.prompt("go")
        seq, asks = 0, 0
        while True:
            event = await coder.until(lambda event: isinstance(event, AskOpened | TurnEnded), seq)
            if isinstance(event.event, TurnEnded):
                break
            seq, asks = event.seq, asks + 1
            ask = await budget_ask(coder, seq - 1)
            assert ask.spent < ask.until == ask.spent + 15.0
            await coder.answer(ask)
        costs = [each.event.cost or 0.0 for each in await coder.events() if isinstance(each.event, MessageAdded)]
        assert asks == _times_asked(costs, 15.0)


def _times_asked(costs: list[float], limit: float) -> int:
    spent, allowed, times = 0.0, limit, 0
    for cost in costs:
        if spent >= allowed:
            times, allowed = times + 1, spent + limit
        spent += cost
    return times


@pytest.mark.quick
@story
async def test_the_budget_of_a_day_is_for_all_sessions(tmp_path: Path) -> None:
    costly(tmp_path, {"day": 0.01})
    async with house(tmp_path, script(says("one"), says("two"))) as coder:
        await coder.prompt("first")
        await coder.ended()
        spent = await cost(coder)
        await coder.create()
        await coder.prompt("second")
        ask = await budget_ask(coder)
        assert ask == BudgetAsk(
            ask.id, span=day_of(now()), spent=spent, limit=0.01, until=spent + 0.01, person=ME.who
        )
        assert len(coder.server.requests) == 1
        await coder.answer(ask)
        assert (await coder.ended()).text == "two"


@pytest.mark.quick
@story
async def test_c28_a_summary_is_not_made_when_the_budget_is_used_up(tmp_path: Path) -> None:
    costly(tmp_path, {"session": 0.01})
    async with house(tmp_path, script(says("one"), says("in short"))) as coder:
        await coder.prompt("go")
        await coder.ended()
        head = (await coder.events())[-1].seq
        await coder.host.send(CompactHistory(session=coder.session, prompt_id=PromptId("c"), by=BEN))
        ask = await budget_ask(coder, after=head)
        assert len(coder.server.requests) == 1
        await coder.answer(ask)
        ended = await coder.ended(turns=2)
        assert ended.text == "in short"
        assert ask.spent + (ended.cost or 0.0) == await cost(coder)


@pytest.mark.quick
@story
async def test_c11_a_summary_that_is_due_is_asked_about_once_and_so_is_the_answer_after_it(tmp_path: Path) -> None:
    costly(tmp_path, {"session": 0.01}, context=4000)
    print_much = bash("seq 5000; echo one >> did")
    async with house(tmp_path, script(proposes(print_much), says("it printed"), says("done"))) as coder:
        await coder.prompt("go")
        head = 0
        for requests in (1, 2):
            ask = await budget_ask(coder, after=head)
            assert (len(coder.server.requests), ask.spent) == (requests, await cost(coder))
            head = (await coder.answer(ask)).head
        assert (await coder.ended()).text == "done"
        asks = [each for each in await coder.events() if isinstance(each.event, AskOpened)]
        assert (len(asks), (coder.folder / "did").read_text()) == (2, "one\n")


@pytest.mark.quick
@story
async def test_a_stop_ends_the_question_about_money(tmp_path: Path) -> None:
    costly(tmp_path, {"session": 0.01})
    async with house(tmp_path, script(proposes(bash("true")))) as coder:
        await coder.prompt("go")
        ask = await budget_ask(coder)
        await coder.stop()
        assert (await coder.ended()).ending == "stopped"
        late = await coder.answer(ask)
        assert late == Answered(None, None, late.head)


@pytest.mark.quick
@story
async def test_without_a_price_nothing_is_known_to_be_spent(tmp_path: Path) -> None:
    Places(tmp_path).write({"budget": {"session": 0.01, "day": 0.01}})
    async with house(tmp_path, script(proposes(bash("true")), says("done"))) as coder:
        await coder.prompt("go")
        ended = await coder.ended()
        assert (ended.text, ended.cost) == ("done", None)
        summary = await coder.summary()
        assert summary is not None
        assert (summary.cost, summary.day_cost, summary.usage) == (None, 0.0, ended.usage)


@pytest.mark.quick
@story
async def test_the_sessions_of_a_day_are_counted_however_many_there_are(tmp_path: Path) -> None:
    costly(tmp_path, {})
    async with house(tmp_path, script(says("one"), says("two"))) as coder:
        for text in ("first", "second"):
            await coder.create()
            await coder.prompt(text)
            await coder.ended()
        both = sum(each.day_cost for each in await coder.host.store.sessions())
        for _ in range(45):
            await coder.create()
        state = (await coder.host.load(coder.session)).state
        costly(tmp_path, {"day": 0.01})
        spending = coder.host.context.spending
        ask = await spending.ask(state, now())
        assert ask is not None
        assert ask.spent == both > 0.0
        assert await spending.ask(state, now() + 86_400_000) is None


@pytest.mark.quick
@story
async def test_a_turn_knows_what_its_steps_have_cost(tmp_path: Path) -> None:
    costly(tmp_path, {})
    async with house(tmp_path, script(proposes(bash("true")), says("one"), says("two"))) as coder:
        for text in ("a", "b"):
            await coder.prompt(text)
        await coder.ended(turns=2)
        events = [each.event for each in await coder.events()]
        turns = [each.turn_id for each in events if isinstance(each, TurnStarted)]
        for turn in turns:
            steps = [each for each in events if isinstance(each, MessageAdded) and each.turn_id == turn]
            (ended,) = [each for each in events if isinstance(each, TurnEnded) and each.turn_id == turn]
            assert ended.cost == sum(each.cost or 0.0 for each in steps)
            assert ended.usage.input_tokens == sum(each.usage.input_tokens for each in steps)
        assert await cost(coder) == sum(each.cost or 0.0 for each in events if isinstance(each, MessageAdded))
