"""Commands of people's own: where they come from, what is made of them, and what a repository cannot do with them."""

import time
from pathlib import Path

import pytest

from coderelay.config.skills_and_commands.custom_commands import CustomCommand, CustomCommands, find_commands
from tests.config.text_folders import Shelf


def find(shelf: Shelf, seen: dict[str, str] | None = None, taken: tuple[str, ...] = ()) -> CustomCommands:
    return find_commands(shelf.places("commands"), seen or {}, taken)


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


FIX = """---
description: Mend an issue
argument-hint: [number] [priority]
allowed-tools: Read, Bash(git add:*)
model: openai:gpt-5.5
---

Mend issue $1 with priority $2.
"""


@pytest.mark.quick
def test_a_command_is_a_file_with_a_head(shelf: Shelf) -> None:
    file = shelf.put(shelf.home / "commands/fix.md", FIX)
    other = shelf.put(shelf.user / ".claude/commands/git/tidy.md", "# Tidy up\n\nRemove old branches.")
    assert find(shelf) == CustomCommands(
        (
            CustomCommand(
                name="fix",
                description="Mend an issue",
                text="Mend issue $1 with priority $2.",
                file=str(file),
                argument_hint="[number] [priority]",
                allowed_tools=("Read", "Bash(git add:*)"),
                model="openai:gpt-5.5",
            ),
            CustomCommand("git:tidy", "Tidy up", "# Tidy up\n\nRemove old branches.", str(other)),
        )
    )


def test_without_any_place_there_are_none(shelf: Shelf) -> None:
    assert find(shelf) == CustomCommands()


@pytest.mark.quick
@pytest.mark.parametrize(
    ("text", "arguments", "prompt"),
    [
        ("Fix $1.", "12", "Fix 12."),
        ("Fix $1, $2!", "12", "Fix 12, !"),
        ("Fix $ARGUMENTS", " 12 high ", "Fix 12 high"),
        ("$2 $1", "a 'b c'", "b c a"),
        ("$1", '"two words" x', "two words"),
        ("$1|$2|$3", "a '' c", "a||c"),
        ("$9", "a b c d e f g h i j", "i"),
        ("$10 and $0", "a", "$10 and $0\n\na"),
        ("\\$1 is $1", "a", "$1 is a"),
        ("\\$ARGUMENTS", "a", "$ARGUMENTS\n\na"),
        ("no place", "a b", "no place\n\na b"),
        ("no place", "  ", "no place"),
        ("$ARGUMENTS", "$1 \\1 $ARGUMENTS", "$1 \\1 $ARGUMENTS"),
        ("$1 $2", "$2 $1", "$2 $1"),
        ("${1} $HOME $x", "a", "${1} $HOME $x\n\na"),
        ("$1", "it's", "it's"),
        ("写 $1", "测试 二", "写 测试"),
    ],
)
def test_arguments_are_put_in_once(text: str, arguments: str, prompt: str) -> None:
    assert CustomCommand("x", "d", text, "f").expand(arguments) == prompt


@pytest.mark.quick
def test_commands_and_files_in_a_text_are_only_told_to_the_agent(shelf: Shelf, tmp_path: Path) -> None:
    """The person's own as well: whatever runs is a call of a tool, which is judged."""
    proof = tmp_path / "proof"
    shelf.put(tmp_path / "secret", "the password")
    shelf.put(shelf.home / "commands/x.md", f"Look at !`touch {proof}` and @{tmp_path}/secret for $1")
    (command,) = find(shelf).found
    assert command.expand("!`id` @me/x") == (
        f"Look at !`touch {proof}` and @{tmp_path}/secret for !`id`\n\n"
        "(!`…`: run this command with bash first; its output belongs in its place.)\n\n"
        "(@ before a path: read that file first.)"
    )
    assert not proof.exists()


@pytest.mark.parametrize("text", ["mail a@b.org", "@pytest.fixture()", "`@a/b`", "@someone", "a !b", "! `x`"])
def test_not_every_sign_means_a_file_or_a_command(text: str) -> None:
    assert CustomCommand("x", "d", text, "f").expand("") == text


@pytest.mark.quick
def test_x36_a_folders_commands_count_only_as_the_person_has_seen_them(shelf: Shelf) -> None:
    file = shelf.put(shelf.folder / ".coder/commands/ship.md", "Run make ship.")
    shelf.put(shelf.folder / ".claude/commands/git/pr.md", "Open a PR.")
    assert find(shelf) == CustomCommands(
        (),
        ("commands not trusted yet (review them with /trust): .coder/commands/ship.md, .claude/commands/git/pr.md",),
        ("ship", "git:pr"),
    )
    seen = shelf.trusted()
    found = find(shelf, seen)
    assert [(each.name, each.own) for each in found.found] == [("git:pr", False), ("ship", False)]
    file.write_text("Run curl evil.")
    assert [each.name for each in find(shelf, seen).found] == ["git:pr"]


def test_of_two_with_one_name_the_nearer_is_used_and_it_is_said(shelf: Shelf) -> None:
    theirs = shelf.put(shelf.folder / ".coder/commands/ship.md", "theirs")
    own = shelf.put(shelf.home / "commands/ship.md", "mine")
    assert [each.text for each in find(shelf).found] == ["mine"]
    found = find(shelf, shelf.trusted())
    assert ([each.text for each in found.found], found.notes) == (
        ["theirs"],
        (f"ship: {theirs} is used, not {own}",),
    )


@pytest.mark.quick
def test_a_built_in_command_cannot_be_replaced(shelf: Shelf) -> None:
    file = shelf.put(shelf.home / "commands/yolo.md")
    shelf.put(shelf.home / "commands/my/yolo.md")
    found = find(shelf, taken=("yolo", "help"))
    assert ([each.name for each in found.found], found.notes) == (
        ["my:yolo"],
        (f"{file} is not used: there is a built-in /yolo",),
    )


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("empty.md", "---\ndescription: x\n---\n\n", "it is empty"),
        (
            "open.md",
            "---\ndescription: x\n",
            "line 1: the front matter that begins with --- must end with --- within 200 lines",
        ),
        ("list.md", "---\nmodel: [a\nmodel: b\n---\nx", "line 3: model is set twice"),
        ("two words.md", "x", "its name may contain only letters, digits and . _ -, and at most 64 characters"),
        ("-rf.md", "x", "its name may contain only letters, digits and . _ -, and at most 64 characters"),
        ("large.md", "x" * (64 * 1024 + 1), "it is larger than 65536 bytes"),
    ],
)
def test_a_broken_command_is_a_note_and_the_others_stay(
    shelf: Shelf, name: str, content: str, complaint: str
) -> None:
    shelf.put(shelf.home / "commands/good.md")
    bad = shelf.put(shelf.home / "commands" / name, content)
    found = find(shelf)
    assert ([each.name for each in found.found], found.notes) == (["good"], (f"{bad} is not used: {complaint}",))


def test_only_markdown_not_too_deep_and_not_hidden_counts(shelf: Shelf) -> None:
    for path in ("a.md", "b.txt", "B.MD", "x/y/z/deep.md", "x/y/z/w/deeper.md", ".git/c.md", "提交.md"):
        shelf.put(shelf.home / "commands" / path)
    (shelf.home / "commands/x/round").symlink_to(shelf.home / "commands")
    names = [each.name for each in find(shelf).found]
    assert {"a", "x:y:z:deep", "提交"} <= set(names)
    assert not {"b", "B", "x:y:z:w:deeper", ".git:c"} & set(names)
    assert max(name.count(":") for name in names) == 3


def test_their_number_is_bounded(shelf: Shelf) -> None:
    for number in range(103):
        shelf.put(shelf.home / f"commands/c{number:03}.md")
    found = find(shelf)
    assert (len(found.found), found.notes) == (
        100,
        (f"{shelf.home / 'commands'} has more than 100 files; the rest is not used",),
    )


def test_what_a_terminal_would_obey_is_made_visible(shelf: Shelf) -> None:
    shelf.put(shelf.home / "commands/x.md", f"---\ndescription: {'long ' * 100}\nargument-hint: \x1b[2J\n---\nx")
    (command,) = find(shelf).found
    assert (len(command.description), command.argument_hint) == (200, "\\x1b[2J")


@pytest.mark.quick
def test_x36_a_hostile_repository_reaches_nothing_outside_of_it(shelf: Shelf, tmp_path: Path) -> None:
    secret = shelf.put(tmp_path / "elsewhere/secret.md", "the password")
    commands = shelf.folder / ".coder/commands"
    commands.mkdir(parents=True)
    (commands / "file.md").symlink_to(secret)
    (commands / "below").symlink_to(secret.parent)
    (shelf.folder / ".claude").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere/commands").mkdir()
    shelf.put(tmp_path / "elsewhere/commands/other.md", "the password")
    assert shelf.trusted() == {}
    found = find(shelf, {".coder/commands/file.md": "", ".claude/commands/other.md": ""})
    assert found.found == ()
    assert len(found.notes) == 3
    assert all("outside" in note or "is a link to a folder" in note for note in found.notes)
    assert "password" not in str(found.notes)


def test_a_persons_own_command_may_be_a_link_to_where_it_is_kept(shelf: Shelf, tmp_path: Path) -> None:
    kept = shelf.put(tmp_path / "dotfiles/x.md", "mine")
    (shelf.home / "commands").mkdir()
    (shelf.home / "commands/x.md").symlink_to(kept)
    (shelf.user / ".claude").mkdir()
    (shelf.user / ".claude/commands").symlink_to(shelf.put(tmp_path / "more/y.md", "too").parent)
    assert [(each.name, each.text) for each in find(shelf).found] == [("x", "mine"), ("y", "too")]


@pytest.mark.quick
def test_x36_links_of_a_folder_in_a_circle_do_not_freeze_us(shelf: Shelf) -> None:
    commands = shelf.folder / ".coder/commands"
    shelf.put(commands / "a.md", "hi")
    for number in range(25):
        (commands / f"link{number}").symlink_to(".")
    began = time.process_time()
    found = find(shelf, shelf.trusted())
    assert time.process_time() - began < 2
    assert [each.name for each in found.found] == ["a"]
    assert "link0 is not used: it is a link to a folder" in found.notes[0]


def test_links_of_a_person_in_a_circle_are_followed_once(shelf: Shelf) -> None:
    shelf.put(shelf.home / "commands/a.md", "hi")
    for number in range(25):
        (shelf.home / f"commands/link{number}").symlink_to(".")
    assert [each.name for each in find(shelf).found] == ["a"]


def test_x36_a_folder_with_folders_without_end_is_not_walked_through(shelf: Shelf) -> None:
    for number in range(150):
        shelf.put(shelf.folder / f".coder/commands/{number}/x.txt")
    found = find(shelf)
    assert found.found == ()
    assert found.notes[-1].endswith(".coder/commands has more than 100 folders; the rest is not used")
