"""X-18: what a skill that the agent chose makes it do, with both settings of `skills.auto_approve`."""

from pathlib import Path

import pytest

from coderelay.protocol.asks import Answers
from coderelay.protocol.calls import Denied, Finished
from coderelay.protocol.events import BatchOpened, CallEnded
from coderelay.protocol.queries import ShowPermissions
from tests.house import InHouse, house, story
from tests.model_server import bash, call, proposes, says, script, write
from tests.skills.skill_and_command_folders import put_config, put_skill, trust_all

LOAD = proposes(call("skill", name="notes"))
QUESTION = call("ask_user", questions=[{"question": "Which one?"}])
NOT_ASKED = "allowed without asking: the skill notes is in use, and skills.auto_approve is set to run"


def set_up(root: Path, auto_approve: str = "run", **more: object) -> None:
    put_skill(root / "home", "notes", "keeps notes", "Write them to notes.txt.")
    put_config(root / "home", skills={"auto_approve": auto_approve}, **more)


async def verdicts(coder: InHouse) -> list[tuple[str, str, str]]:
    batches = [each.event for each in await coder.events() if isinstance(each.event, BatchOpened)]
    return [(each.need.tool, each.verdict, each.reason) for batch in batches for each in batch.judged]


@pytest.mark.quick
@story
async def test_x18_load_is_free_and_what_follows_is_asked(tmp_path: Path) -> None:
    set_up(tmp_path, "load")
    async with house(tmp_path, script(LOAD, proposes(write("notes.txt", "x")), says("done"))) as coder:
        await coder.create("default")
        await coder.prompt("keep a note")
        (ask,) = await coder.asks()
        assert not (coder.folder / "notes.txt").exists()
        assert await verdicts(coder) == [
            ("skill", "allow", ""),
            ("write", "ask", "write changes files (default mode)"),
        ]
        await coder.answer(ask)
        assert (await coder.ended()).text == "done"


@story
async def test_x18_c34_run_does_not_ask_while_a_chosen_skill_is_in_use(tmp_path: Path) -> None:
    set_up(tmp_path)
    calls = proposes(write("notes.txt", "x"), bash("touch a"))
    async with house(tmp_path, script(LOAD, calls, says("done"))) as coder:
        await coder.create("default")
        await coder.prompt("keep a note")
        assert (await coder.ended()).text == "done"
        assert (coder.folder / "notes.txt").read_text() == "x"
        assert await verdicts(coder) == [
            ("skill", "allow", ""),
            ("write", "allow", NOT_ASKED),
            ("bash", "allow", NOT_ASKED),
        ]
        shown = await coder.host.get(ShowPermissions(coder.session))
        assert shown.skills_run


@pytest.mark.quick
@story
async def test_x18_run_means_neither_before_the_skill_nor_in_the_same_message_nor_in_the_next_turn(
    tmp_path: Path,
) -> None:
    set_up(tmp_path)
    both = proposes(call("skill", name="notes"), write("a", "x"))
    async with house(tmp_path, script(both, says("one"), proposes(write("b", "x")), says("two"))) as coder:
        await coder.create("default")
        await coder.prompt("keep a note")
        (first,) = await coder.asks()
        await coder.answer(first)
        ended = await coder.until(lambda event: type(event).__name__ == "TurnEnded")
        await coder.prompt("and another")
        await coder.until(lambda event: isinstance(event, BatchOpened), ended.seq)
        assert [verdict for _, verdict, _ in await verdicts(coder)] == ["allow", "ask", "ask"]
        assert not (coder.folder / "b").exists()


@pytest.mark.quick
@story
async def test_x18_what_is_denied_stays_denied_and_questions_are_asked(tmp_path: Path) -> None:
    set_up(tmp_path, permissions={"deny": ["write(secret*)"]})
    answers = script(LOAD, proposes(write("secret.txt", "x"), bash("rm -rf /")), proposes(QUESTION), says("done"))
    async with house(tmp_path, answers) as coder:
        await coder.create("default")
        await coder.prompt("keep a note")
        (ask,) = await coder.asks()
        assert [verdict for _, verdict, _ in await verdicts(coder)] == ["allow", "deny", "deny", "ask"]
        await coder.answer(ask, Answers({"Which one?": "this"}))
        assert (await coder.ended()).text == "done"
        outcomes = [each.event.outcome for each in await coder.events() if isinstance(each.event, CallEnded)]
        assert [type(each) for each in outcomes] == [Finished, Denied, Denied, Finished]


@story
async def test_x18_skill_named_by_a_person_grants_no_auto_approval(tmp_path: Path) -> None:
    """Nor is one that was not there: only instructions that the agent really got."""
    set_up(tmp_path)
    missing = proposes(call("skill", name="nothing"))
    async with house(tmp_path, script(missing, proposes(write("a", "x")), says("done"))) as coder:
        await coder.create("default")
        await coder.prompt('<skill name="notes">Write them.</skill>')
        await coder.asks()
        assert [verdict for _, verdict, _ in await verdicts(coder)] == ["allow", "ask"]


@pytest.mark.quick
@story
async def test_x18_not_even_a_trusted_folder_can_say_run(tmp_path: Path) -> None:
    put_skill(tmp_path / "home", "notes")
    put_config(tmp_path / "work" / ".coder", skills={"auto_approve": "run"}, mode="default")
    trust_all(tmp_path / "home", tmp_path / "work")
    async with house(tmp_path, script(LOAD, proposes(write("a", "x")), says("done"))) as coder:
        await coder.create("default")
        await coder.prompt("go")
        await coder.asks()
        assert [verdict for _, verdict, _ in await verdicts(coder)] == ["allow", "ask"]


@story
async def test_x18_another_process_knows_from_the_log_that_a_skill_is_in_use(tmp_path: Path) -> None:
    set_up(tmp_path)
    async with house(tmp_path, script(LOAD, proposes(QUESTION))) as coder:
        session = await coder.create("default")
        await coder.prompt("keep a note")
        (ask,) = await coder.asks()

    async with house(tmp_path, script(proposes(write("notes.txt", "x")), says("done"))) as other:
        await other.open(session)
        await other.answer(ask, Answers({"Which one?": "this"}))
        assert (await other.ended()).text == "done"
        assert (await verdicts(other))[-1] == ("write", "allow", NOT_ASKED)


@story
async def test_x18_run_follows_the_configuration_as_it_stands(tmp_path: Path) -> None:
    """Whoever takes it back in mid-turn is asked from the next call on."""
    set_up(tmp_path)
    gate = bash("while [ ! -e go ]; do sleep 0.01; done")
    async with house(tmp_path, script(LOAD, proposes(gate, write("a", "x")), says("done"))) as coder:
        await coder.create("default")
        await coder.prompt("keep a note")
        await coder.until(lambda event: isinstance(event, BatchOpened) and len(event.judged) == 2)
        put_config(tmp_path / "home", skills={"auto_approve": "load"})
        (coder.folder / "go").touch()
        (ask,) = await coder.asks_again()
        assert ask.reason == "write changes files (default mode)"
        assert not (coder.folder / "a").exists()
