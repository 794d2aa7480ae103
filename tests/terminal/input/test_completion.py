"""Completion at the line, in a real session on a real folder."""

import asyncio
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from coderelay.protocol.commands import ConfigureSession
from coderelay.protocol.modes import MODE_NAMES
from coderelay.surfaces.terminal.input.completion import InputCompleter, SessionOffers
from coderelay.surfaces.terminal.input.fuzzy_match import FuzzyIndex, best_of
from coderelay.surfaces.terminal.input.mention_syntax import Mention, mention_of, mentions, unfinished_mention
from tests.house import ME, InHouse, house, story
from tests.model_server import script
from tests.terminal.input.input_line import BACKSPACE, DOWN, ENTER, TAB, Line, line


@asynccontextmanager
async def session_line(root: Path, fresh: float = 3.0) -> AsyncGenerator[tuple[InHouse, Line], None]:
    async with house(root, script()) as coder:
        await coder.create()
        offers = SessionOffers(coder.host, lambda: coder.session, fresh)
        async with line(root, completer=InputCompleter(offers)) as typed:
            yield coder, typed


def write(root: Path, *paths: str) -> None:
    for path in paths:
        file = root / "work" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("")


def meanings(typed: Line) -> dict[str, str]:
    state = typed.buffer.complete_state
    assert state is not None
    return {each.display_text: each.display_meta_text for each in state.completions}


@pytest.mark.quick
@story
async def test_commands_are_offered_at_the_start_best_first_with_what_they_mean(tmp_path: Path) -> None:
    async with session_line(tmp_path) as (_, typed):
        await typed.type("/und")
        await typed.until(lambda: "/undo" in typed.offered)
        await typed.type(BACKSPACE * 3, "mo")
        await typed.until(lambda: typed.offered[:2] == ["/mode ", "/model "])
        assert f"/mode [{'|'.join(MODE_NAMES)}]" in meanings(typed)
        assert all(meanings(typed).values())


@story
async def test_own_commands_and_skills_are_offered_too(tmp_path: Path) -> None:
    commands = tmp_path / "home" / "commands"
    commands.mkdir(parents=True)
    (commands / "ship.md").write_text("---\ndescription: send it out\nargument-hint: VERSION\n---\nship $ARGUMENTS\n")
    async with session_line(tmp_path) as (_, typed):
        await typed.type("/shi")
        await typed.until(lambda: typed.offered[:1] == ["/ship "])
        assert meanings(typed)["/ship VERSION"] == "send it out"


@story
async def test_c05_c22_what_follows_a_command_is_offered_where_it_is_known(tmp_path: Path) -> None:
    async with session_line(tmp_path) as (_, typed):
        await typed.type("/mode ")
        await typed.offers([*MODE_NAMES])
        await typed.type("a")
        await typed.until(lambda: typed.offered[:1] == ["auto-edit"])
        await typed.type(TAB, ENTER)
        assert typed.done == ["send /mode auto-edit"]
        await typed.type("/permissions st")
        await typed.offers(["strict"])


@story
async def test_what_stands_for_something_else_is_not_offered_literally(tmp_path: Path) -> None:
    write(tmp_path, "src/changed.py")
    work = tmp_path / "work"
    person = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        subprocess.run(["git", *person, *command], cwd=work, check=True)
    (work / "src" / "changed.py").write_text("new\n")
    async with session_line(tmp_path) as (coder, typed):
        for line, offered in {
            "/diff ": ["full", "src/changed.py"],
            "/queue ": ["edit", "drop"],
            "/tasks ": ["stop"],
            "/ps ": ["stop"],
            "/help und": ["undo"],
            "/export ": [f"session-{coder.session[:8]}.md", f"session-{coder.session[:8]}.json"],
            "/model ": ["openai:scripted", "guide"],
        }.items():
            await typed.type(line)
            await typed.until(lambda offered=offered: typed.offered == offered)
            await typed.type(BACKSPACE * len(line))


@story
async def test_a64_folders_anywhere_are_offered_to_add(tmp_path: Path) -> None:
    write(tmp_path, "inside/a.py", ".hidden/a.py", "file")
    (tmp_path / "other" / "deep").mkdir(parents=True)
    async with session_line(tmp_path) as (_, typed):
        await typed.type("/add-dir ")
        await typed.offers(["inside/"])
        await typed.type("../oth")
        await typed.offers(["../other/"])
        await typed.type(TAB, "d")
        await typed.offers(["../other/deep/"])


@story
async def test_c27_other_sessions_of_the_folder_are_offered_to_resume(tmp_path: Path) -> None:
    async with session_line(tmp_path) as (coder, typed):
        other = coder.session
        await coder.host.send(ConfigureSession(session=other, title="the old one", by=ME))
        await coder.create()
        await typed.type("/resume ")
        await typed.offers([other])
        assert meanings(typed) == {other: "the old one"}


@story
async def test_a_slash_elsewhere_is_no_command(tmp_path: Path) -> None:
    async with session_line(tmp_path) as (_, typed):
        await typed.type("and/or /mo", ENTER, "text\\" + ENTER + "/mo", ENTER)
        assert (typed.offered, len(typed.done)) == ([], 2)


@story
async def test_files_are_offered_by_some_of_their_letters_and_taken_with_tab_or_enter(tmp_path: Path) -> None:
    write(tmp_path, "src/coderelay/main.py", "docs/schema.py", "src/other.py", "README.md")
    async with session_line(tmp_path) as (_, typed):
        await typed.type("look at @scma")
        await typed.offers(["@src/coderelay/main.py ", "@docs/schema.py "])
        await typed.type(TAB, "and @read")
        await typed.offers(["@README.md "])
        await typed.type(DOWN, ENTER)
        assert (typed.text, typed.done) == ("look at @src/coderelay/main.py and @README.md ", [])
        await typed.type(ENTER)
        assert typed.done == ["send look at @src/coderelay/main.py and @README.md "]


@story
async def test_a_folder_is_offered_and_then_what_is_in_it(tmp_path: Path) -> None:
    write(tmp_path, "src/deep/a.py", "other/b.py")
    async with session_line(tmp_path) as (_, typed):
        await typed.type("@sr")
        await typed.until(lambda: typed.offered[:1] == ["@src/"])
        await typed.type(TAB)
        assert typed.text == "@src/"
        await typed.offers(["@src/", "@src/deep/", "@src/deep/a.py "])


@story
async def test_what_git_ignores_is_not_offered(tmp_path: Path) -> None:
    write(tmp_path, "kept.py", "made/kept.py", "kept.log")
    subprocess.run(["git", "init", "-q", tmp_path / "work"], check=True)
    (tmp_path / "work" / ".gitignore").write_text("made/\n*.log\n")
    async with session_line(tmp_path) as (_, typed):
        await typed.type("@kept")
        await typed.offers(["@kept.py "])


@story
async def test_names_with_spaces_are_quoted(tmp_path: Path) -> None:
    write(tmp_path, "my notes.txt")
    async with session_line(tmp_path) as (_, typed):
        await typed.type("@note")
        await typed.offers(['@"my notes.txt" '])
        await typed.type(TAB, BACKSPACE * 2, BACKSPACE)
        await typed.offers(['@"my notes.txt" '])


@story
async def test_a_new_file_is_offered_a_moment_later(tmp_path: Path) -> None:
    write(tmp_path, "old.py")
    async with session_line(tmp_path, fresh=0.0) as (_, typed):
        await typed.type("@")
        await typed.offers(["@old.py "])
        write(tmp_path, "new.py")
        while "@new.py " not in typed.offered:  # what is known is offered, while it is found out anew
            await typed.type(BACKSPACE, "@")
            await typed.until(lambda: bool(typed.offered))


@story
async def test_one_of_thousands_is_found(tmp_path: Path) -> None:
    names = [f"src{number % 25}/package_{number % 50}/module_{number}_thing.py" for number in range(5000)]
    write(tmp_path, *names)
    subprocess.run(["git", "init", "-q", tmp_path / "work"], check=True)
    async with session_line(tmp_path) as (_, typed):
        await typed.type("@s9mod4999")
        await typed.until(lambda: typed.offered[:1] == ["@src24/package_49/module_4999_thing.py "])


@story
async def test_fifty_thousand_names_do_not_hold_up_the_keys() -> None:
    names = FuzzyIndex(f"src{number % 25}/package_{number % 50}/module_{number}.py" for number in range(50_000))
    others = 0

    async def count() -> None:
        nonlocal others
        while True:
            others += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    found = await names.best("s7m40432", 3)
    counting.cancel()
    assert found == ["src7/package_32/module_40432.py"]
    assert others >= 50  # something else could go on after every thousand names


@pytest.mark.parametrize(
    ("wanted", "best_first"),
    [
        ("host", ["host", "host.py", "src/host/", "my_host.py", "host/z.py", "h/o/s/t", "ghoost"]),
        ("cm", ["src/cool/main.py", "c/xm.py"]),
        ("main", ["cli/main.py", "cli/__main__.py", "main_parts/z.py", "remains/z.py"]),
        ("src/", ["src/", "src/a.py", "lib/src/", "lib/src/a.py"]),
        ("XY", ["xy.py", "Xylo.py", "x_y.py"]),
    ],
)
def test_names_are_ranked(wanted: str, best_first: list[str]) -> None:
    assert best_of(sorted(best_first), wanted) == best_first


@story
async def test_without_a_letter_what_lies_on_top_comes_first_and_hidden_names_after_it() -> None:
    names = FuzzyIndex([".ci/", ".ci/run", "a.py", "src/", "src/b.py"])
    assert await names.best("", 9) == ["a.py", "src/", ".ci/", "src/b.py", ".ci/run"]


@pytest.mark.parametrize(
    ("before", "path"),
    [
        ("@", ""),
        ("see @src/ma", "src/ma"),
        ("(@a", "a"),
        ('@"my no', "my no"),
        ("line\n@x", "x"),
        ("me@example.org", None),
        ("@a b", None),
        ('@"a b" ', None),
        ("a @b\n", None),
    ],
)
def test_a_mention_is_recognised_while_it_is_typed(before: str, path: str | None) -> None:
    found = unfinished_mention(before)
    assert (None if found is None else found.path) == path


def test_mentions_are_found_without_what_ends_the_sentence() -> None:
    text = '(@a.png), @"b c.png"! me@x.png @d.png.'
    assert mentions(text) == [Mention("a.png", 1, 7), Mention("b c.png", 10, 20), Mention("d.png", 31, 37)]


@pytest.mark.parametrize("path", ["a.py", "a b.py", 'say "hi".txt', "back\\slash x", "(odd).md", "中文.md"])
def test_a_written_mention_is_read_as_what_it_was(path: str) -> None:
    text = mention_of(path)
    assert mentions(text) == [Mention(path, 0, len(text))]
