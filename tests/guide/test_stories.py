"""First runs without a model: real tools, approvals and logs, by rule."""

import subprocess
from pathlib import Path

import pytest

from coderelay.models.providers import KNOWN
from coderelay.protocol.asks import Deny, PermissionAsk, PlanAsk
from coderelay.protocol.calls import Option
from coderelay.protocol.commands import CompactHistory
from coderelay.protocol.ids import PromptId, new_id
from tests.guide.guided_house import END, END_ZH, guided
from tests.house import ME, story

NOTHING = f"Nothing was done.{END}"


@story
async def test_files_are_listed_found_searched_and_read(tmp_path: Path) -> None:
    async with guided(tmp_path) as session:
        folder = session.coder.folder
        (folder / "src").mkdir()
        (folder / "src" / "a b.py").write_text("one\nTODO: two\n")
        assert await session.ask("list the files") == f"```\nsrc/\n```{END}"
        assert await session.ask("查找 *.py 文件") == f"```\n./src/a b.py\n```{END_ZH}"
        assert await session.ask("search for TODO in src") == f"```\nsrc/a b.py:2:TODO: two\n```{END}"
        assert await session.ask("搜索 没有的东西") == f"没有输出。{END_ZH}"
        assert await session.ask("read 'src/a") == (f"```\ncannot read 'src/a: No such file or directory\n```{END}")
        (folder / "c.txt").write_text("".join(f"{number}\n" for number in range(1, 101)))
        shown = "\n".join(f"{number}\t{number}" for number in range(1, 41))
        assert await session.ask("read c.txt") == f"```\n{shown}\n```\n… 60 more lines{END}"


@pytest.mark.quick
@story
async def test_a_file_is_created_after_it_was_allowed(tmp_path: Path) -> None:
    async with guided(tmp_path, "default") as session:
        await session.coder.prompt("create file notes/a.txt with hello\nworld")
        ask = await session.next_ask()
        assert not (session.coder.folder / "notes").exists()
        await session.coder.answer(ask)
        assert await session.ended() == f"```\ncreated notes/a.txt (2 lines)\n```{END}"
        assert (session.coder.folder / "notes" / "a.txt").read_text() == "hello\nworld\n"
        assert await session.coder.story() == [
            "user: create file notes/a.txt with hello\nworld",
            "read: failed: cannot read notes/a.txt: No such file or directory",
            "write: ok",
            f"agent: ```\ncreated notes/a.txt (2 lines)\n```{END}",
        ]


@story
async def test_what_is_denied_is_not_done_and_said(tmp_path: Path) -> None:
    async with guided(tmp_path, "default") as session:
        await session.coder.prompt("create file a.txt with x")
        ask = await session.next_ask()
        await session.coder.answer(ask, Deny("not now"))
        assert await session.ended() == f"Not allowed: not now. Nothing was done.{END}"
        assert not (session.coder.folder / "a.txt").exists()


@story
async def test_a_file_that_is_there_is_replaced_only_if_the_person_says_so(tmp_path: Path) -> None:
    async with guided(tmp_path) as session:
        file = session.coder.folder / "a.txt"
        file.write_text("old\n")
        for answer, said, content in (
            ("保留", f"什么都没有做。{END_ZH}", "old\n"),
            ("whatever", f"什么都没有做。{END_ZH}", "old\n"),
            ("替换", f"```\nreplaced a.txt (1 line)\n```{END_ZH}", "new\n"),
        ):
            await session.coder.prompt("新建文件 a.txt，内容为 new")
            await session.answer_next(answer)
            assert await session.ended() == said
            assert file.read_text() == content


@story
async def test_nothing_is_written_where_something_else_is_or_outside(tmp_path: Path) -> None:
    async with guided(tmp_path) as session:
        (session.coder.folder / "data").write_bytes(b"\0\1")
        (session.coder.folder / "sub").mkdir()
        for path, why in (
            ("data", "data is a binary file of 2 bytes"),
            ("sub", "sub is a folder"),
            ("../out.txt", f"../out.txt is outside the workspace {session.coder.folder}"),
        ):
            assert await session.ask(f"create file {path} with x") == f"```\n{why}\n```{END}"
        assert (session.coder.folder / "data").read_bytes() == b"\0\1"
        assert not (tmp_path / "out.txt").exists()


@story
async def test_content_that_is_missing_is_asked_for(tmp_path: Path) -> None:
    async with guided(tmp_path) as session:
        await session.coder.prompt("create a file called a.txt")
        ask = await session.answer_next("```\nfirst\n\nlast\n```")
        assert ask.questions[0].question == "What should a.txt contain?"
        assert await session.ended() == f"```\ncreated a.txt (3 lines)\n```{END}"
        assert (session.coder.folder / "a.txt").read_text() == "first\n\nlast\n"


@pytest.mark.quick
@story
async def test_an_unclear_request_is_one_question_with_choices(tmp_path: Path) -> None:
    async with guided(tmp_path) as session:
        (session.coder.folder / "README.md").write_text("# Title\n\ntext\n\n## Part\n\n### Deeper\n")
        await session.coder.prompt("fix the bug")
        ask = await session.answer_next("Outline the README")
        labels = ("List the files", "Git status", "Run the tests", "Outline the README", "Connect a model", "Help")
        assert ask.questions[0].options == tuple(Option(label) for label in labels)
        assert ask.questions[0].question.startswith("No model is connected")
        assert await session.ended() == f"- Title\n  - Part\n    - Deeper{END}"


@pytest.mark.parametrize(
    ("prompt", "said"), [("fix it", "No model is connected. I am"), ("修复它", "尚未连接模型。我是向导")]
)
@story
async def test_an_answer_that_is_unclear_too_gets_help(tmp_path: Path, prompt: str, said: str) -> None:
    async with guided(tmp_path) as session:
        await session.coder.prompt(prompt)
        await session.answer_next("whatever you think")
        assert (await session.ended()).startswith(said)
        await session.coder.prompt(prompt)
        await session.answer_next(None)
        assert (await session.ended()).startswith(said)


@pytest.mark.parametrize(
    ("files", "command"),
    [
        ({"Makefile": "all:\n\ntest: all\n\techo made\n", "package.json": "{}"}, "make test"),
        ({"Makefile": "all:\n", "package.json": '{"scripts": {"test": "true"}}'}, "npm test"),
        ({"pyproject.toml": "[tool.pytest.ini_options]\n"}, "python3 -m pytest -q"),
        ({"Cargo.toml": "[package]\n"}, "cargo test"),
        ({"go.mod": "module m\n"}, "go test ./..."),
    ],
)
@story
async def test_the_tests_are_run_the_way_the_project_does(
    tmp_path: Path, files: dict[str, str], command: str
) -> None:
    async with guided(tmp_path, "default") as session:
        for name, content in files.items():
            (session.coder.folder / name).write_text(content)
        await session.coder.prompt("run the tests")
        ask = await session.next_ask()
        assert isinstance(ask, PermissionAsk)
        assert ask.need.command == command
        await session.coder.answer(ask, Deny())
        assert await session.ended() == f"Not allowed: the user denied it. Nothing was done.{END}"


@story
async def test_tests_that_fail_are_shown_as_they_are(tmp_path: Path) -> None:
    async with guided(tmp_path) as session:
        (session.coder.folder / "Makefile").write_text("test:\n\t@echo 1 failed; exit 1\n")
        said = await session.ask("运行测试")
        assert "1 failed" in said
        assert "exit code 2" in said


@story
async def test_where_nothing_tells_how_tests_are_run_the_person_does(tmp_path: Path) -> None:
    async with guided(tmp_path) as session:
        await session.coder.prompt("run the tests")
        await session.answer_next("echo all well")
        assert await session.ended() == f"```\nall well\n```{END}"
        await session.coder.prompt("run the tests")
        await session.answer_next(None)
        assert await session.ended() == NOTHING


@story
async def test_git_is_asked_for_status_and_changes(tmp_path: Path) -> None:
    async with guided(tmp_path) as session:
        folder = session.coder.folder
        assert "not a git repository" in await session.ask("git status")
        identity = ["-c", "user.name=me", "-c", "user.email=me@example.org"]
        (folder / "a").write_text("one\n")
        for arguments in (["init", "-qb", "main"], ["add", "a"], [*identity, "commit", "-qm", "first"]):
            subprocess.run(["git", *arguments], cwd=folder, check=True)
        (folder / "a").write_text("two\n")
        assert " M a" in await session.ask("git 状态")
        changes = await session.ask("git diff")
        assert "-one\n+two" in changes


@story
async def test_without_a_readme_it_says_so(tmp_path: Path) -> None:
    async with guided(tmp_path) as session:
        assert await session.ask("outline the readme") == f"No README found.{END}"


@story
async def test_how_to_connect_a_model_names_variables_and_what_is_installed(tmp_path: Path) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "codex").touch(0o755)
    async with guided(tmp_path, path=f"{programs}") as session:
        said = await session.ask("connect a model")
        keys = [(known.keys[-1], f"{name}:{known.example}") for name, known in KNOWN.items() if known.keys]
        assert [line for line in said.splitlines() if line.startswith("- set ")] == [
            f"- set {key}, for {model}" for key, model in keys
        ]
        assert ("ANTHROPIC_API_KEY", "anthropic:claude-sonnet-4-5") in keys
        assert said.endswith("\nInstalled, but not supported by this version yet: codex.")


@story
async def test_in_plan_mode_commands_are_refused(tmp_path: Path) -> None:
    async with guided(tmp_path, "plan") as session:
        (session.coder.folder / "Makefile").write_text("test:\n\t@touch made\n")
        await session.coder.prompt("run the tests")
        (ask,) = await session.coder.plan_asks()
        assert isinstance(ask, PlanAsk)
        assert ask.plan == f"Not allowed: make may change things; plan mode. Nothing was done.{END}"


@story
async def test_there_is_nothing_to_sum_up(tmp_path: Path) -> None:
    async with guided(tmp_path) as session:
        await session.ask("help")
        command = CompactHistory(session=session.coder.session, prompt_id=PromptId(new_id()), by=ME)
        await session.coder.host.send(command)
        assert await session.ended() == "Nothing to compact without a model."
        assert (await session.ask("help")).startswith("No model is connected")
