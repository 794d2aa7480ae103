"""A long conversation becomes a summary and its last messages: when it is wanted, when it is due, when the server
says that it is too long."""

import asyncio
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from coderelay.agents.native.compaction import SUMMARISER
from coderelay.protocol.commands import Accepted, CompactHistory, Outcome, Unchanged
from coderelay.protocol.events import HistoryCompacted, TurnStarted
from coderelay.protocol.ids import PromptId
from coderelay.protocol.queries import ExportSession
from coderelay.testing.model_server import without_notes
from tests.config.config_files import Places
from tests.house import ME, InHouse, house, story
from tests.log_checker import check_settled, read_logs
from tests.model_server import Answer, bash, hangs, http_error, proposes, read, says, script

TOO_LONG = http_error(400, "this is too much", code="context_length_exceeded")


def configure(root: Path, *, keep: int = 2, **card: object) -> None:
    Places(root).write({"compaction": {"keep": keep}, "providers": {"openai": {"models": {"scripted": card}}}})


async def compact(coder: InHouse, name: str = "c") -> Outcome:
    return await coder.host.send(CompactHistory(session=coder.session, prompt_id=PromptId(name), by=ME))


async def turns(coder: InHouse, *texts: str) -> None:
    """One after the other: what waits in the queue would be another story."""
    for number, text in enumerate(texts, 1):
        await coder.prompt(text)
        await coder.ended(turns=number)


def told(request: Mapping[str, Any]) -> list[tuple[str, str]]:
    return [(each["role"], without_notes(each["content"] or "")) for each in request["messages"][1:]]


def is_for_a_summary(request: Mapping[str, Any]) -> bool:
    return request["messages"][0]["content"] == SUMMARISER


def summed_up(text: str) -> str:
    return f"<summary>\nWhat happened so far, summed up because it became too long:\n\n{text}\n</summary>"


@pytest.mark.quick
@story
async def test_c28_a_summary_is_made_when_it_is_wanted_and_shown(tmp_path: Path) -> None:
    configure(tmp_path)
    answers = [says(each) for each in ("one", "two", "three", "we counted to three", "four")]
    async with house(tmp_path, script(*answers)) as coder:
        await turns(coder, "a", "b", "c")
        assert isinstance(await compact(coder), Accepted)
        ended = await coder.ended(turns=4)
        assert (ended.ending, ended.text, ended.steps) == ("done", "we counted to three", 0)
        assert isinstance(await compact(coder), Unchanged)
        assert is_for_a_summary(coder.server.requests[3])
        assert coder.server.requests[3].get("tools") is None
        ((role, material),) = told(coder.server.requests[3])
        assert (role, "Person: " in material, "Agent: two" in material) == ("user", True, True)
        await coder.prompt("d")
        await coder.ended(turns=5)
        assert told(coder.server.requests[4]) == [
            ("user", summed_up("we counted to three") + "\n\nc"),
            ("assistant", "three"),
            ("user", "d"),
        ]
    check_settled(read_logs(tmp_path / "home" / "sessions.db")[coder.session])


@pytest.mark.quick
@story
async def test_c28_an_empty_session_needs_no_model_for_its_summary(tmp_path: Path) -> None:
    async with house(tmp_path, script(says("one"))) as coder:
        await coder.create()
        await compact(coder)
        assert (await coder.ended()).ending == "done"
        assert coder.server.requests == []
        await coder.prompt("a")
        assert (await coder.ended(turns=2)).text == "one"


@pytest.mark.quick
@story
async def test_c28_a_summary_waits_for_the_turn_that_runs(tmp_path: Path) -> None:
    async with house(tmp_path, script(proposes(read("x")), says("one"), says("in short"), says("two"))) as coder:
        await coder.prompt("a")
        await compact(coder)
        await coder.prompt("b")
        await coder.ended(turns=3)
        tasks = [each.event.task for each in await coder.events() if isinstance(each.event, TurnStarted)]
        assert tasks == ["prompt", "compact", "prompt"]
        assert [is_for_a_summary(each) for each in coder.server.requests] == [False, False, True, False]


LONG = "for n in $(seq 400); do echo line $n of something long; done"


@pytest.mark.quick
@story
async def test_c11_a_history_that_fills_the_window_is_summed_up_before_the_next_request(tmp_path: Path) -> None:
    configure(tmp_path, context=4000)
    async with house(tmp_path, script(proposes(bash(LONG)), says("it printed lines"), says("done"))) as coder:
        await coder.prompt("print lines, please")
        assert (await coder.ended()).text == "done"
        assert [is_for_a_summary(each) for each in coder.server.requests] == [False, True, False]
        ((role, text),) = told(coder.server.requests[2])
        assert role == "user"
        assert text == summed_up(
            "it printed lines\n\nWhat the person asked for in this turn, word for word:\nprint lines, please"
        )
        summary = await coder.summary()
        assert summary is not None
        assert 0 < summary.context_tokens < 3200
        assert (await coder.story())[-1] == "agent: done"
    check_settled(read_logs(tmp_path / "home" / "sessions.db")[coder.session])


@pytest.mark.quick
@story
async def test_c11_what_was_told_besides_is_told_again_after_a_summary(tmp_path: Path) -> None:
    configure(tmp_path, context=4000)
    (tmp_path / "work" / "AGENTS.md").write_text("use tabs")
    answers = script(proposes(read("AGENTS.md")), proposes(bash(LONG)), says("lines"), says("done"))
    async with house(tmp_path, answers) as coder:
        await coder.prompt("print lines")
        await coder.ended()
        requests = ["".join(str(each["content"]) for each in told["messages"]) for told in coder.server.requests]
        first, second, _, last = requests
        for words in ("<environment>", "use tabs\n</instructions>", "<mode>"):
            assert [each.count(words) for each in (first, second, last)] == [1, 1, 1]


REFUSALS: list[Answer] = [
    TOO_LONG,
    http_error(400, "This model's maximum context length is 4096 tokens."),
    http_error(413, "prompt is too long: 9 > 8"),
]


@pytest.mark.parametrize("refusal", REFUSALS, ids=["code", "words", "413"])
def test_c11_a_server_that_says_too_long_is_asked_again_with_a_summary(tmp_path: Path, refusal: Answer) -> None:
    async def run() -> None:
        answers = script(proposes(bash("echo hi")), refusal, says("it said hi"), says("done"))
        async with house(tmp_path, answers) as coder:
            await coder.prompt("greet")
            ended = await coder.ended()
            assert (ended.ending, ended.text) == ("done", "done")
            assert [is_for_a_summary(each) for each in coder.server.requests] == [False, False, True, False]
            assert "it said hi" in told(coder.server.requests[3])[0][1]

    asyncio.run(run())


@pytest.mark.quick
@story
async def test_c11_a_history_that_stays_too_long_fails_the_turn_and_says_so(tmp_path: Path) -> None:
    answers = script(proposes(bash("echo hi")), TOO_LONG, says("it said hi"), TOO_LONG)
    async with house(tmp_path, answers) as coder:
        await coder.prompt("greet")
        ended = await coder.ended()
        assert (ended.ending, ended.error) == ("failed", "API error 400: this is too much")


@pytest.mark.quick
@story
async def test_x12_a_stop_while_a_summary_is_made_leaves_no_half_of_it(tmp_path: Path) -> None:
    """Symptom: half of the summary stood in the conversation as if the agent had said it."""
    answers = script(says("one"), hangs(says("half a summary"), 3), says("two"))
    async with house(tmp_path, answers) as coder:
        await turns(coder, "a")
        await compact(coder)
        await coder.server.wait_for_requests(2)
        await coder.stop()
        assert (await coder.ended(turns=2)).ending == "stopped"
        assert await coder.story() == ["user: a", "agent: one", "user: /compact", "(stopped)"]
        await coder.prompt("b")
        await coder.ended(turns=3)
        assert told(coder.server.requests[2]) == [("user", "a"), ("assistant", "one"), ("user", "b")]


@pytest.mark.quick
@story
async def test_x25_a_summary_that_was_cut_off_is_made_by_the_next_process(tmp_path: Path) -> None:
    async with house(tmp_path, script(says("one"), hangs(says("half a summary"), 1))) as first:
        await turns(first, "a")
        await compact(first)
        await first.server.wait_for_requests(2)
    async with house(tmp_path, script(says("in short"))) as second:
        await second.open(first.session)
        assert (await second.ended(turns=2)).text == "in short"
        made = [each for each in await second.events() if isinstance(each.event, HistoryCompacted)]
        assert len(made) == 1
    check_settled(read_logs(tmp_path / "home" / "sessions.db")[first.session])


@pytest.mark.quick
@story
async def test_c28_the_snapshot_holds_the_summary(tmp_path: Path) -> None:
    async with house(tmp_path, script(says("one"), says("in short"))) as coder:
        await turns(coder, "a")
        await compact(coder)
        await coder.ended(turns=2)
        exported = await coder.host.get(ExportSession(coder.session))
        first = exported["messages"][1]
        assert (first["role"], summed_up("in short") in first["content"]) == ("user", True)


@pytest.mark.quick
@story
async def test_what_was_sent_is_sent_again_to_the_byte_by_any_process(tmp_path: Path) -> None:
    """So that a provider can keep what it has read before."""
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "AGENTS.md").write_text("use tabs")
    async with house(tmp_path, script(proposes(read("AGENTS.md")), says("one"))) as first:
        await first.prompt("a")
        await first.ended()
    async with house(tmp_path, script(says("two"))) as second:
        await second.open(first.session)
        (second.folder / "AGENTS.md").write_text("use spaces")
        await second.prompt("b")
        await second.ended(turns=2)
        sent = [*(each["messages"] for each in first.server.requests), second.server.requests[0]["messages"]]
        for before, after in pairwise(sent):
            assert after[: len(before)] == before
        assert "use spaces" in sent[-1][-1]["content"]
