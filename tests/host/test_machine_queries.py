"""What a new-session dialog and a files view ask, with a session and without one."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from coderelay.protocol.commands import CreateSession, SendPrompt, UndoTurn
from coderelay.protocol.errors import BadInput, UnknownSession
from coderelay.protocol.ids import PromptId, SessionId, TurnId, new_id
from coderelay.protocol.queries import (
    ListAgents,
    ListFiles,
    ListFolders,
    ListModels,
    ListRecentFolders,
    ListTools,
    ListTurns,
    Query,
    ReadFile,
    ShowDefaults,
    ShowDiff,
    SuggestTitle,
)
from coderelay.protocol.query_results import DefaultsShown, FileShown, FilesShown, FoldersShown
from tests.host.test_undo import repository
from tests.house import ME, house, story
from tests.model_server import proposes, says, script, write


@pytest.mark.quick
@story
async def test_b20_a_new_session_is_prepared_without_one(tmp_path: Path) -> None:
    folder = repository(tmp_path)
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.json").write_text(json.dumps({"model": "openai:scripted", "mode": "plan"}))
    async with house(tmp_path, script(says("A fine title"), says("Another title"))) as coder:
        get, cwd = coder.host.get, str(folder)
        assert await get(ShowDefaults(cwd)) == DefaultsShown("native", "openai:scripted", "plan", "config")
        named = await get(ListModels(cwd=cwd))
        agents = await get(ListAgents(cwd=cwd))
        assert [(each.name, each.problem) for each in agents[:2]] == [("native", ""), ("guide", "")]
        assert await get(SuggestTitle(cwd=cwd, text="paint the shed")) == "A fine title"
        assert "paint the shed" in str(coder.server.requests[-1])
        files = await get(ListFiles(cwd=cwd))
        assert files == FilesShown((".gitignore", "a"))
        (folder / "a").write_text("two\n")
        diff = await get(ShowDiff(cwd=cwd))
        assert "+two" in diff.diff
        await coder.create()
        session = coder.session
        assert (await get(ListModels(session)), await get(ListAgents(session)), await get(ListFiles(session))) == (
            named,
            agents,
            files,
        )
        assert await get(ShowDiff(session)) == diff
        assert await get(SuggestTitle(session, text="paint the shed")) == "Another title"


WITHOUT_MODEL: list[type[Query[Any]]] = [ListModels, ListAgents, ListFiles, ShowDiff]


@pytest.mark.parametrize("query", WITHOUT_MODEL, ids=lambda query: query.__name__)
@story
async def test_a_question_names_a_session_or_a_folder(tmp_path: Path, query: Any) -> None:
    async with house(tmp_path, script()) as coder:
        await coder.create()
        for wrong in (query(), query(coder.session, cwd=str(coder.folder))):
            with pytest.raises(BadInput, match="name either a session or a folder"):
                await coder.host.get(wrong)
        with pytest.raises(BadInput, match="no such folder"):
            await coder.host.get(query(cwd=str(tmp_path / "none")))
        with pytest.raises(BadInput, match="is not an absolute path"):
            await coder.host.get(query(cwd="work"))
        with pytest.raises(UnknownSession):
            await coder.host.get(query(SessionId("none")))


@story
async def test_the_diff_of_any_turn_is_its_own(tmp_path: Path) -> None:
    folder = repository(tmp_path)
    said = script(proposes(write("b", "first\n")), says("ok"), proposes(write("c", "second\n")), says("ok"))
    async with house(tmp_path, said) as coder:
        for number in (1, 2):
            await coder.prompt(f"do {number}")
            await coder.ended(number)
            (folder / f"mine{number}").write_text("by hand\n")
        second, first = await coder.host.get(ListTurns(coder.session))
        shown = await coder.host.get(ShowDiff(coder.session, turn=first.turn_id))
        assert ("+first" in shown.diff, "+second" in shown.diff, "by hand" in shown.diff) == (True, False, False)
        assert [each.path for each in shown.changes] == ["b"]
        shown = await coder.host.get(ShowDiff(coder.session, turn=second.turn_id))
        assert [each.path for each in shown.changes] == ["c"]
        await coder.host.send(UndoTurn(session=coder.session, by=ME))
        for gone in (second.turn_id, TurnId("none")):
            with pytest.raises(BadInput, match="no turn "):
                await coder.host.get(ShowDiff(coder.session, turn=gone))


@story
async def test_a59_a_file_is_read_bounded_and_never_a_secret(tmp_path: Path) -> None:
    async with house(tmp_path, script()) as coder:
        await coder.create("yolo")
        folder = coder.folder
        (folder / "text.md").write_text("中文 and scripted\n")
        (folder / "image.bin").write_bytes(b"\x00\x01\x02\xff" * 10)
        (folder / ".env").write_text("KEY=1\n")
        os.symlink(".env", folder / "innocent.txt")
        os.symlink("/etc/passwd", folder / "outside.txt")

        async def read(path: str, most_bytes: int = 1000) -> FileShown:
            return await coder.host.get(ReadFile(coder.session, path, most_bytes))

        shown = await read("text.md")
        assert (shown.path, shown.size, shown.whole, shown.binary) == ("text.md", 20, True, False)
        assert shown.text.startswith("中文 and ")
        assert await read(str(folder / "text.md")) == shown
        assert await read("text.md", 6) == FileShown("text.md", "中文", 20, whole=False)
        assert await read("image.bin") == FileShown("image.bin", size=40, binary=True)
        for secret in (".env", "innocent.txt"):
            with pytest.raises(BadInput, match="may hold secrets and is not shown"):
                await read(secret)
        for wrong in ("outside.txt", "../home/sessions.db", "/etc/passwd", "none", "."):
            with pytest.raises(BadInput):
                await read(wrong)


@story
async def test_secrets_of_this_process_are_masked_in_a_file(tmp_path: Path) -> None:
    async with house(tmp_path, script()) as coder:
        await coder.create()
        coder.host.context.secrets.add(["correct-horse-battery"])
        (coder.folder / "a.txt").write_text("key correct-horse-battery\n")
        assert "correct-horse-battery" not in (await coder.host.get(ReadFile(coder.session, "a.txt"))).text


@story
async def test_tools_disabled_for_the_native_agent_were_offered(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.json").write_text(json.dumps({"agents.native.tools.disabled": ["bash"]}))
    async with house(tmp_path, script(says("ok"))) as coder:
        await coder.prompt("hello")
        await coder.ended()
        shown = {each.name: each.off for each in await coder.host.get(ListTools(coder.session))}
        assert (shown["bash"], shown["read"]) == ("disabled in the configuration", "")
        assert "bash" not in [each["function"]["name"] for each in coder.server.requests[0]["tools"]]


@story
async def test_b26_folders_are_browsed_beneath_the_roots_alone(tmp_path: Path) -> None:
    root = tmp_path / "root"
    for name in ("b/deep", "A", ".hidden"):
        (root / name).mkdir(parents=True)
    (root / "file").write_text("")
    os.symlink("/etc", root / "etc")
    os.symlink(root / "b", root / "link")
    async with house(tmp_path, script()) as coder:
        roots = (str(root),)
        top = FoldersShown(str(root), ("A", "b", "link"))
        assert await coder.host.get(ListFolders(roots)) == top
        assert await coder.host.get(ListFolders(roots, str(root / "link"))) == FoldersShown(
            str(root / "b"), ("deep",), parent=str(root)
        )
        assert (await coder.host.get(ListFolders(roots, hidden=True))).folders == (".hidden", "A", "b", "link")
        for wrong in ("/etc", str(root / "etc"), str(root / ".."), "b", str(root) + "2"):
            with pytest.raises(BadInput, match="is not beneath a folder that may be shown"):
                await coder.host.get(ListFolders(roots, wrong))
        with pytest.raises(BadInput, match="cannot read"):
            await coder.host.get(ListFolders(roots, str(root / "none")))
        with pytest.raises(BadInput, match="is not beneath a folder that may be shown"):
            await coder.host.get(ListFolders(()))


@story
async def test_b26_b71_recent_folders_are_distinct_newest_first_and_bounded(tmp_path: Path) -> None:
    async with house(tmp_path, script(says("hi"))) as coder:
        names = [f"f{number:02}" for number in range(25)]
        sessions: dict[str, SessionId] = {}
        for name in [*names, *names[:3]]:
            (tmp_path / name).mkdir(exist_ok=True)
            sessions[name] = SessionId(new_id())
            cwd = str(tmp_path / name)
            await coder.host.send(CreateSession(session=sessions[name], cwd=cwd, model="openai:scripted", by=ME))

        async def recent(limit: int = 8) -> list[str]:
            return [os.path.basename(each) for each in await coder.host.get(ListRecentFolders(limit))]

        assert await recent() == ["f02", "f01", "f00", "f24", "f23", "f22", "f21", "f20"]
        assert [len(await recent(limit)) for limit in (-1, 0, 1, 20, 100)] == [1, 1, 1, 20, 20]
        (tmp_path / "f02").rmdir()
        coder.session = sessions["f10"]
        await coder.host.send(SendPrompt(session=coder.session, prompt_id=PromptId(new_id()), text="hello", by=ME))
        await coder.ended()
        assert await recent(3) == ["f10", "f01", "f00"]
