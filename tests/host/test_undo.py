"""A turn undone: its files and the conversation with them, from any process, never over somebody's own changes."""

import asyncio
import os
import shutil
import subprocess
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from pathlib import Path

import pytest

from coderelay.app import App
from coderelay.config.loaded_config import Config
from coderelay.host import file_snapshot_timing, session_worker, turn_lent_to_agent
from coderelay.host.git_turn_snapshots import GitTurnFiles
from coderelay.host.turn_snapshots_interface import TurnSnapshots
from coderelay.protocol.asks import Ask, By, Deny, DenyAndStop
from coderelay.protocol.calls import Stopped
from coderelay.protocol.commands import CompactHistory, SendPrompt, Undone, UndoTurn
from coderelay.protocol.errors import BadInput, CannotRun
from coderelay.protocol.events import (
    BatchOpened,
    CallEnded,
    CallStarted,
    PromptTaken,
    Recorded,
    TreeTaken,
    TurnEnded,
    TurnUndone,
)
from coderelay.protocol.ids import PromptId
from coderelay.protocol.live_updates import Notice
from coderelay.protocol.queries import ListPrompts, ShowDiff
from coderelay.protocol.query_results import FileChange
from coderelay.session.state import PastTurn
from coderelay.testing.model_server import without_notes
from coderelay.workspace.trees.snapshots import SnapshotTaker
from tests.house import ME, InHouse, house, story
from tests.model_server import bash, call, hangs, http_error, proposes, read, says, script, write
from tests.patience import PATIENCE

GIT = shutil.which("git")


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


def said_in(coder: InHouse) -> list[str]:
    """By the person, in the last request."""
    messages = coder.server.requests[-1]["messages"]
    return [without_notes(each["content"]) for each in messages if each["role"] == "user"]


class SlowHouse(App):
    """Once an undo has done its work on the files, it waits to be let go."""

    def __init__(self, config: Config, env: Mapping[str, str]) -> None:
        super().__init__(config, env)
        SlowHouse.files_done, SlowHouse.go_on = asyncio.Event(), asyncio.Event()

    files_done: asyncio.Event
    go_on: asyncio.Event

    def turn_files(self) -> TurnSnapshots:
        return _SlowTrees(SnapshotTaker(self.config.home, self.env))


class GitlessHouse(App):
    def turn_files(self) -> TurnSnapshots:
        return GitTurnFiles(SnapshotTaker(self.config.home, {"PATH": self.config.home}))


class HungHouse(App):
    """Its git hangs once there is a pipe `hung` in the home, and says so there first."""

    def turn_files(self) -> TurnSnapshots:
        home = Path(self.config.home)
        program = home / "bin" / "git"
        if not program.exists():
            program.parent.mkdir()
            program.write_text(
                f'#!/bin/sh\n[ -p "{home}/hung" ] && : > "{home}/hung" && exec sleep 600\nexec {GIT} "$@"\n'
            )
            program.chmod(0o700)
        return GitTurnFiles(SnapshotTaker(str(home), {"PATH": f"{program.parent}:/usr/bin:/bin"}))


class _SlowTrees(GitTurnFiles):
    async def undo(self, turn: PastTurn, by: By) -> TurnUndone:
        undone = await super().undo(turn, by)
        SlowHouse.files_done.set()
        await SlowHouse.go_on.wait()
        return undone


@pytest.mark.quick
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
        with pytest.raises(BadInput, match="nothing to undo"):
            await undo(coder)
        await coder.prompt("third")
        await coder.ended(turns=3)
        assert said_in(coder) == ["third"]


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


@pytest.mark.quick
@story
async def test_c30_x15_outside_a_repository_a_turn_is_undone_even_if_it_creates_one(tmp_path: Path) -> None:
    steps = proposes(write("b", "x"), bash("echo y > c; git init -q -b main; git add b")), says("done")
    async with house(tmp_path, script(*steps)) as coder:
        (coder.folder / "a").write_text("mine\n")
        await coder.prompt("go")
        await coder.ended()
        outcome = await undo(coder)
        assert (outcome.restored, outcome.removed, outcome.conflicts) == ((), ("b", "c"), ())
        assert files(coder.folder) == {"a": "mine\n"}


@pytest.mark.quick
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
        assert whole.changes == (
            FileChange("a", "modified", added=1, deleted=1),
            FileChange("mine", "added", added=1),
        )
        assert "+two" in whole.diff
        by_turns = await coder.host.get(ShowDiff(coder.session, by_turns=True))
        assert by_turns.changes == (FileChange("a", "modified", added=1, deleted=1),)


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


@story
async def test_c30_a_turn_stopped_while_it_asks_can_be_undone(tmp_path: Path) -> None:
    folder = repository(tmp_path)
    steps = [proposes(write("b", "x")), proposes(bash("./make"))]
    async with house(tmp_path, script(*steps)) as coder:
        await coder.create("auto-edit")
        await coder.prompt("go")
        (ask,) = await coder.asks()
        await coder.answer(ask, DenyAndStop())
        assert (await coder.ended()).ending == "stopped"
        assert (await undo(coder)).removed == ("b",)
        assert "b" not in files(folder)


@pytest.mark.quick
@story
async def test_c30_a_turn_that_another_process_ends_after_a_crash_can_be_undone(tmp_path: Path) -> None:
    folder = repository(tmp_path)
    async with house(tmp_path, script(proposes(write("b", "x")), hangs(says("a"), 0))) as coder:
        await coder.prompt("go")
        await coder.server.wait_for_requests(2)
        session = coder.session
    async with house(tmp_path, script()) as later:
        later.session = session
        await later.stop()
        assert (await later.ended()).ending == "stopped"
        assert (await undo(later)).removed == ("b",)
        assert "b" not in files(folder)


@story
async def test_c30_a_failed_turn_can_be_undone(tmp_path: Path) -> None:
    folder = repository(tmp_path)
    async with house(tmp_path, script(proposes(write("b", "x")), http_error(400, "no"))) as coder:
        await coder.prompt("go")
        assert (await coder.ended()).ending == "failed"
        assert (await undo(coder)).removed == ("b",)
        assert "b" not in files(folder)


@story
async def test_c30_undo_removes_prompts_that_joined_the_turn(tmp_path: Path) -> None:
    folder = repository(tmp_path)
    until_go = "while [ ! -e go ]; do sleep 0.01; done"
    steps = [proposes(write("b", "x"), bash(until_go)), says("done"), says("ok")]
    async with house(tmp_path, script(*steps)) as coder:
        await coder.prompt("go")
        await coder.until(lambda event: isinstance(event, TreeTaken))
        steer = SendPrompt(session=coder.session, prompt_id=PromptId("s"), text="blue", steer=True, by=ME)
        await coder.host.send(steer)
        (folder / "go").touch()
        await coder.ended()
        assert any(isinstance(each.event, PromptTaken) for each in await coder.events())
        await undo(coder)
        await coder.prompt("again")
        await coder.ended(turns=2)
        assert said_in(coder) == ["again"]


@story
async def test_x15_a_turn_that_begins_while_another_process_undoes_is_told_and_no_false_word(tmp_path: Path) -> None:
    folder = repository(tmp_path)
    steps = [proposes(write("b", "x")), says("done"), hangs(says("a"), 0)]
    async with house(tmp_path, script(*steps)) as coder:
        await coder.prompt("go")
        await coder.ended()
        async with house(tmp_path, script(), build=SlowHouse) as other:
            other.session = coder.session
            undoing = asyncio.create_task(undo(other))
            await SlowHouse.files_done.wait()
            await coder.prompt("next")
            await coder.server.wait_for_requests(3)
            SlowHouse.go_on.set()
            with pytest.raises(CannotRun, match=r"removed b.* another turn began"):
                await undoing
        assert "b" not in files(folder)
        assert not [each for each in await coder.events() if isinstance(each.event, TurnUndone)]


@story
async def test_x15_of_two_undos_at_once_only_one_says_it_was_it(tmp_path: Path) -> None:
    folder = repository(tmp_path)
    steps = [proposes(write("b", "1")), says("one"), proposes(write("c", "2")), says("two")]
    async with house(tmp_path, script(*steps)) as coder:
        await coder.prompt("first")
        await coder.ended()
        await coder.prompt("second")
        await coder.ended(turns=2)
        async with house(tmp_path, script(), build=SlowHouse) as other:
            other.session = coder.session
            undoing = asyncio.create_task(undo(other))
            await SlowHouse.files_done.wait()
            await undo(coder)
            SlowHouse.go_on.set()
            with pytest.raises(CannotRun, match="somebody else has undone"):
                await undoing
        assert files(folder) == {"a": "one\n", ".gitignore": "ignored\n", "b": "1"}
        assert len([each for each in await coder.events() if isinstance(each.event, TurnUndone)]) == 1


@pytest.mark.quick
@story
async def test_x15_git_that_hangs_before_the_first_change_does_not_keep_a_stop_waiting(tmp_path: Path) -> None:
    repository(tmp_path)
    async with house(tmp_path, script(proposes(write("b", "x"))), build=HungHouse) as coder:
        os.mkfifo(hung := tmp_path / "home" / "hung")
        await coder.prompt("go")
        await asyncio.to_thread(hung.read_text)
        async with asyncio.timeout(PATIENCE):
            await coder.stop()
            assert (await coder.ended()).ending == "stopped"
        assert "b" not in files(coder.folder)
        (ended,) = [each.event for each in await coder.events() if isinstance(each.event, CallEnded)]
        assert ended.outcome == Stopped(started=False)


def test_x15_git_that_hangs_at_the_end_does_not_keep_a_stop_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_worker, "FILES_LEFT_SECONDS", 0.1)

    @story
    async def stop_with_a_git_that_hangs() -> None:
        repository(tmp_path)
        steps = [proposes(bash("echo y > c; sleep 600"))]
        async with house(tmp_path, script(*steps), build=HungHouse) as coder:
            await coder.prompt("go")
            await coder.until(lambda event: isinstance(event, TreeTaken))
            os.mkfifo(tmp_path / "home" / "hung")
            async with asyncio.timeout(PATIENCE):
                await coder.stop()
                assert (await coder.ended()).ending == "stopped"
            with pytest.raises(CannotRun, match="no snapshot of the files after the last turn"):
                await undo(coder)

    stop_with_a_git_that_hangs()


@pytest.mark.quick
@story
async def test_c30_without_git_the_turn_runs_and_undo_says_what_is_missing(tmp_path: Path) -> None:
    repository(tmp_path)
    async with house(tmp_path, script(proposes(write("b", "x")), says("done")), build=GitlessHouse) as coder:
        await coder.prompt("go")
        assert (await coder.ended()).ending == "done"
        with pytest.raises(CannotRun, match="cannot be undone: git is not installed"):
            await undo(coder)
        assert (coder.folder / "b").exists()


@story
async def test_x15_a_command_that_removes_the_repository_is_not_called_a_crash(tmp_path: Path) -> None:
    repository(tmp_path)
    async with house(tmp_path, script(proposes(bash("echo x > b; rm -rf .git")), says("done"))) as coder:
        await coder.prompt("go")
        assert (await coder.ended()).ending == "done"
        outcome = await undo(coder)
        assert (outcome.restored, outcome.removed) == ((), ())
        assert [each.partition(":")[0] for each in outcome.conflicts] == ["b"]
        assert (coder.folder / "b").exists()


@story
async def test_c30_a_commit_of_the_turn_stays_and_its_files_go(tmp_path: Path) -> None:
    folder = repository(tmp_path)
    commit = "git -c user.name=t -c user.email=t@t commit -qam second"
    async with house(tmp_path, script(proposes(bash(f"echo two > a; {commit}")), says("done"))) as coder:
        await coder.prompt("go")
        await coder.ended()
        assert (await undo(coder)).restored == ("a",)
        assert files(folder) == {"a": "one\n", ".gitignore": "ignored\n"}
        assert git(folder, "log", "--format=%s").split() == ["second", "first"]


@story
async def test_c30_the_repository_made_anew_by_the_turn(tmp_path: Path) -> None:
    folder = repository(tmp_path)
    async with house(
        tmp_path, script(proposes(bash("echo x > b; rm -rf .git; git init -q -b main")), says("done"))
    ) as coder:
        await coder.prompt("go")
        await coder.ended()
        assert (await undo(coder)).removed == ("b",)
        assert files(folder) == {"a": "one\n", ".gitignore": "ignored\n"}


@story
async def test_c30_a_folder_in_a_repository_and_another_beside_it(tmp_path: Path) -> None:
    """Each session undoes what is beneath its folder, and leaves the other's alone."""
    top = repository(tmp_path)
    for name in ("one", "two"):
        (top / name).mkdir()
    steps = [proposes(bash("echo 1 > here; echo 1 > ../above")), says("a"), proposes(write("here", "2")), says("b")]
    async with house(tmp_path, script(*steps)) as coder:
        coder.folder = top / "one"
        first = await coder.create()
        await coder.prompt("go")
        await coder.ended()
        coder.folder = top / "two"
        await coder.create()
        await coder.prompt("go")
        await coder.ended()
        assert (await undo(coder)).removed == ("here",)
        assert {"one/here", "above"} < files(top).keys()
        coder.session = first
        assert (await undo(coder)).removed == ("here",)
        assert files(top).keys() == {"a", ".gitignore", "above"}


@story
async def test_c30_the_tree_is_taken_once_however_often_the_turn_writes(tmp_path: Path) -> None:
    folder = repository(tmp_path)
    (folder / "ignored").write_text("mine\n")
    steps = [
        proposes(bash("echo 1 > b")),
        proposes(read("ignored")),
        proposes(write("ignored", "1")),
        proposes(write("ignored", "2"), write("b", "2")),
        says("done"),
    ]
    async with house(tmp_path, script(*steps)) as coder:
        await coder.prompt("go")
        await coder.ended()
        taken = [each.event for each in await coder.events() if isinstance(each.event, TreeTaken)]
        assert len(taken) == 2  # the second covers a file that git ignores
        await undo(coder)
        assert files(folder) == {"a": "one\n", ".gitignore": "ignored\n", "ignored": "mine\n"}


@story
async def test_x15_a_file_changed_while_its_change_is_asked_about_is_not_overwritten(tmp_path: Path) -> None:
    folder = repository(tmp_path)
    steps = [proposes(read("a")), proposes(write("a", "two\n")), says("done")]
    async with house(tmp_path, script(*steps)) as coder:
        await coder.create("default")
        await coder.prompt("go")
        (ask,) = await coder.asks()
        (folder / "a").write_text("mine, and longer\n")
        await coder.answer(ask)
        await coder.ended()
        assert files(folder)["a"] == "mine, and longer\n"
        assert "has changed since you read it" in "\n".join(await coder.story())


@story
async def test_c30_prompts_held_in_the_queue_stay_there(tmp_path: Path) -> None:
    folder = repository(tmp_path)
    steps = [proposes(write("b", "x")), hangs(says("a"), 0), says("c"), says("d")]
    async with house(tmp_path, script(*steps)) as coder:
        await coder.prompt("go")
        await coder.server.wait_for_requests(2)
        await coder.prompt("waits")
        await coder.stop()
        await coder.ended()
        await undo(coder)
        assert "b" not in files(folder)
        assert [each.text for each in await coder.host.get(ListPrompts(coder.session))] == ["waits"]
        await coder.prompt("last")
        await coder.ended(turns=3)
        assert said_in(coder) == ["waits", "last"]


@pytest.mark.quick
@story
async def test_c30_the_file_of_the_session_forgets_the_undone_turn(tmp_path: Path) -> None:
    folder = repository(tmp_path)
    async with house(tmp_path, script(proposes(write("b", "x")), says("far out"))) as coder:
        await coder.prompt("go")
        await coder.ended()
        await undo(coder)
        assert "far out" not in (folder / ".coder" / "sessions" / f"{coder.session}.json").read_text()


@story
async def test_c30_a_file_that_git_ignores_comes_back_though_the_folder_was_opened_by_a_link(tmp_path: Path) -> None:
    folder = repository(tmp_path)
    (folder / ".gitignore").write_text("ignored\n..b\n")
    (folder / "ignored").write_text("mine\n")
    before = files(folder)
    (tmp_path / "link").symlink_to(folder)
    steps = [proposes(read("ignored")), proposes(write("ignored", "x"), write("..b", "x")), says("done")]
    async with house(tmp_path, script(*steps)) as coder:
        coder.folder = tmp_path / "link"
        await coder.prompt("go")
        await coder.ended()
        assert files(folder) != before
        await undo(coder)
        assert files(folder) == before


@story
async def test_c30_of_a_turn_that_is_summed_up_in_part_the_rest_is_forgotten(tmp_path: Path) -> None:
    repository(tmp_path)
    steps = [proposes(write("b", "x")), says("far out"), says("all is well"), says("ok")]
    async with house(tmp_path, script(*steps)) as coder:
        await coder.prompt("go")
        await coder.ended()
        await coder.host.send(CompactHistory(session=coder.session, prompt_id=PromptId("c"), by=ME))
        await coder.ended(turns=2)
        assert (await undo(coder)).removed == ("b",)
        await coder.prompt("next")
        await coder.ended(turns=3)
        told = str(coder.server.requests[-1]["messages"])
        assert ("all is well" in told, "far out" in told) == (True, False)


async def next_ask(coder: InHouse, after: int = 0) -> tuple[int, Ask]:
    """The first ask after a cursor, and the cursor behind it."""
    batch = await coder.until(
        lambda event: isinstance(event, BatchOpened) and any(each.ask for each in event.judged), after
    )
    assert isinstance(batch.event, BatchOpened)
    [ask] = [each.ask for each in batch.event.judged if each.ask is not None]
    return batch.seq, ask


@story
async def test_x15_what_the_person_changes_while_they_are_asked_is_theirs(tmp_path: Path) -> None:
    folder = repository(tmp_path)
    (folder / "b").write_text("b\n")
    (folder / "c").write_text("c\n")
    before = files(folder)
    steps = [
        proposes(call("edit", path="a", old="one", new="two")),
        proposes(call("edit", path="b", old="b", new="B")),
        proposes(write("new", "new\n")),
        says("done"),
    ]
    async with house(tmp_path, script(*steps)) as coder:
        await coder.create("default")
        await coder.prompt("go")
        at, ask = await next_ask(coder)
        await coder.answer(ask)
        at, ask = await next_ask(coder, at)
        (folder / "mine").write_text("of the person\n")
        (folder / "c").unlink()
        await coder.answer(ask)
        at, ask = await next_ask(coder, at)
        (folder / "a").write_text("of the person\n")
        await coder.answer(ask)
        await coder.ended()
        undone = await undo(coder)
        assert (undone.restored, undone.removed) == (("b",), ("new",))
        assert undone.conflicts == ("a: it was changed since",)
        theirs = {"a": "of the person\n", "mine": "of the person\n"}
        assert files(folder) == {name: text for name, text in before.items() if name != "c"} | theirs


@story
async def test_x15_what_the_person_changes_before_they_deny_the_rest_is_theirs(tmp_path: Path) -> None:
    folder = repository(tmp_path)
    steps = [
        proposes(call("edit", path="a", old="one", new="two")),
        proposes(write("new", "new\n")),
        says("done"),
    ]
    async with house(tmp_path, script(*steps)) as coder:
        await coder.create("default")
        await coder.prompt("go")
        at, ask = await next_ask(coder)
        await coder.answer(ask)
        at, ask = await next_ask(coder, at)
        (folder / "mine").write_text("of the person\n")
        await coder.answer(ask, Deny())
        await coder.ended()
        undone = await undo(coder)
        assert (undone.restored, undone.removed, undone.conflicts) == (("a",), (), ())
        assert files(folder)["mine"] == "of the person\n"


@story
async def test_a_large_repository_is_read_while_the_model_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_snapshot_timing, "_LARGE_INDEX", 0)
    repository(tmp_path)
    async with house(tmp_path, script(hangs(says("one two"), 1))) as coder:
        await coder.prompt("go")
        async with asyncio.timeout(PATIENCE):
            while not list((tmp_path / "home" / "trees").glob("*/refs/trees/*")):  # noqa: ASYNC110 - git writes it
                await asyncio.sleep(0.01)
        assert not [each for each in await coder.events() if isinstance(each.event, TreeTaken)]


@story
async def test_a_slow_snapshot_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turn_lent_to_agent, "_SLOW_SECONDS", 0)
    repository(tmp_path)
    async with house(tmp_path, script(proposes(write("b", "x")), says("done"))) as coder:
        await coder.prompt("go")
        shown = [each async for each in _until_ended(coder)]
    told = [each.text for each in shown if isinstance(each, Notice)]
    assert told == ["taking a snapshot, so that this turn can be undone"]


async def _until_ended(coder: InHouse) -> AsyncGenerator[object]:
    async with aclosing(coder.host.follow(coder.session)) as feed:
        async for each in feed:
            yield each
            if isinstance(each, Recorded) and isinstance(each.event, TurnEnded):
                return
