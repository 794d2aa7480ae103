"""A turn undone: its files and the conversation with them, from any process, never over somebody's own changes."""

import subprocess
from pathlib import Path

import pytest

from coderelay.protocol.commands import Undone, UndoTurn
from coderelay.protocol.errors import BadInput, CannotRun
from coderelay.protocol.events import CallStarted, TreeTaken
from coderelay.protocol.queries import ShowDiff
from coderelay.testing.house import ME, InHouse, house, story
from coderelay.testing.model_server import bash, hangs, proposes, read, says, script, write
from coderelay.testing.prompts import without_notes

pytestmark = pytest.mark.quick


def git(folder: Path, *arguments: str) -> str:
    who = ["-c", "user.name=t", "-c", "user.email=t@t"]
    return subprocess.run(
        ["git", *who, *arguments], cwd=folder, check=True, capture_output=True, encoding="utf-8"
    ).stdout


def repository(root: Path) -> Path:
    folder = root / "work"
    folder.mkdir(exist_ok=True)
    git(folder, "init", "-q", "-b", "main")
    (folder / "a").write_text("one\n")
    (folder / ".gitignore").write_text("ignored\n")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    return folder


def files(folder: Path) -> dict[str, str]:
    found = [path for path in folder.rglob("*") if path.is_file() and not {".git", ".coder"} & {*path.parts}]
    return {str(path.relative_to(folder)): path.read_text() for path in found}


async def undo(coder: InHouse) -> Undone:
    outcome = await coder.host.send(UndoTurn(session=coder.session, by=ME))
    assert isinstance(outcome, Undone)
    return outcome


@story
async def test_c30_undo_takes_back_every_change_of_the_last_turn(tmp_path: Path) -> None:
    folder = repository(tmp_path)
    before = files(folder)
    status = git(folder, "status", "--porcelain")
    steps = [
        proposes(read("a")),
        proposes(write("a", "two\n"), write("new/b", "x"), write("ignored", "y"), bash("echo z > c; chmod +x c")),
        proposes(bash("mv a moved; rm -f .gitignore")),
        says("done"),
    ]
    async with house(tmp_path, script(*steps)) as coder:
        await coder.prompt("go")
        assert (await coder.ended()).ending == "done"
        assert files(folder) != before
        outcome = await undo(coder)
        assert files(folder) == before
        assert not (folder / "new").exists()
        assert sorted(outcome.restored) == [".gitignore", "a"]
        assert sorted(outcome.removed) == ["c", "ignored", "moved", "new/b"]
        assert outcome.conflicts == ()
    assert git(folder, "status", "--porcelain") == status


@story
async def test_c30_repeated_undo_goes_further_back_and_the_conversation_with_it(tmp_path: Path) -> None:
    folder = repository(tmp_path)
    steps = [
        proposes(write("b", "1")),
        says("first done"),
        proposes(write("c", "2")),
        says("second done"),
        says("ok"),
    ]
    async with house(tmp_path, script(*steps)) as coder:
        await coder.prompt("first")
        await coder.ended()
        await coder.prompt("second")
        await coder.ended(turns=2)
        await undo(coder)
        assert files(folder) == {"a": "one\n", ".gitignore": "ignored\n", "b": "1"}
        await undo(coder)
        assert files(folder) == {"a": "one\n", ".gitignore": "ignored\n"}
        with pytest.raises(BadInput, match="there is no turn to undo"):
            await undo(coder)
        await coder.prompt("third")
        await coder.ended(turns=3)
        said = [without_notes(m["content"]) for m in coder.server.requests[-1]["messages"] if m["role"] == "user"]
        assert said == ["third"]


@story
async def test_x15_what_the_person_changed_since_is_left_alone_and_told(tmp_path: Path) -> None:
    folder = repository(tmp_path)
    steps = [proposes(read("a")), proposes(write("a", "two\n"), write("b", "x")), says("done")]
    async with house(tmp_path, script(*steps)) as coder:
        await coder.prompt("go")
        await coder.ended()
        (folder / "a").write_text("mine\n")
        outcome = await undo(coder)
        assert files(folder) == {"a": "mine\n", ".gitignore": "ignored\n"}
        assert (outcome.restored, outcome.removed) == ((), ("b",))
        assert outcome.conflicts == ("a: it was changed since",)


@story
async def test_c30_another_process_undoes_what_the_first_one_did(tmp_path: Path) -> None:
    folder = repository(tmp_path)
    async with house(tmp_path, script(proposes(write("b", "x")), says("done"))) as coder:
        await coder.prompt("go")
        await coder.ended()
        session = coder.session
    async with house(tmp_path, script()) as later:
        await later.open(session)
        assert (await undo(later)).removed == ("b",)
        assert "b" not in files(folder)


@story
async def test_x15_outside_a_repository_a_turn_cannot_be_undone_and_says_why(tmp_path: Path) -> None:
    async with house(tmp_path, script(proposes(write("b", "x")), says("done"))) as coder:
        await coder.prompt("go")
        await coder.ended()
        with pytest.raises(CannotRun, match="git"):
            await undo(coder)
        assert (coder.folder / "b").exists()


@story
async def test_c30_a_turn_that_changed_nothing_only_leaves_the_conversation(tmp_path: Path) -> None:
    repository(tmp_path)
    async with house(tmp_path, script(proposes(read("a")), says("done"))) as coder:
        await coder.prompt("go")
        await coder.ended()
        assert not [each for each in await coder.events() if isinstance(each.event, TreeTaken)]
        outcome = await undo(coder)
        assert (outcome.restored, outcome.removed, outcome.conflicts) == ((), (), ())


@story
async def test_c30_a_stopped_turn_can_be_undone_and_a_running_one_cannot(tmp_path: Path) -> None:
    folder = repository(tmp_path)
    steps = [proposes(write("b", "x")), proposes(bash("echo y > c; sleep 600"))]
    async with house(tmp_path, script(*steps)) as coder:
        await coder.prompt("go")
        started = 0

        def second(event: object) -> bool:
            nonlocal started
            started += isinstance(event, CallStarted)
            return started == 2

        await coder.until(second)
        with pytest.raises(BadInput, match="stop it before"):
            await undo(coder)
        await coder.stop()
        await coder.ended()
        await undo(coder)
        assert files(folder) == {"a": "one\n", ".gitignore": "ignored\n"}


@story
async def test_c29_the_diff_of_the_folder_and_of_the_turns(tmp_path: Path) -> None:
    folder = repository(tmp_path)
    (folder / "mine").write_text("before\n")
    steps = [proposes(read("a")), proposes(write("a", "two\n")), says("done")]
    async with house(tmp_path, script(*steps)) as coder:
        await coder.prompt("go")
        await coder.ended()
        whole = await coder.host.get(ShowDiff(coder.session))
        assert [line.split() for line in whole.files] == [
            ["modified", "+1", "-1", "a"],
            ["added", "+1", "-0", "mine"],
        ]
        assert "+two" in whole.diff
        by_turns = await coder.host.get(ShowDiff(coder.session, by_turns=True))
        assert [line.split() for line in by_turns.files] == [["modified", "+1", "-1", "a"]]


@story
async def test_x15_a_crash_before_the_end_leaves_no_tree_and_undo_says_so(tmp_path: Path) -> None:
    repository(tmp_path)
    async with house(tmp_path, script(proposes(write("b", "x")), hangs(says("a"), 0))) as coder:
        await coder.prompt("go")
        await coder.server.wait_for_requests(2)
        session = coder.session
    async with house(tmp_path, script(says("done"))) as later:
        await later.open(session)
        await later.ended()
        assert (await undo(later)).removed == ("b",)
