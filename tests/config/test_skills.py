"""Skills: whose count, which of two, and what people are told of those that do not. Real files."""

import os
from pathlib import Path

import pytest

from coderelay.config.skills_and_commands.skills import Skill, Skills, SkillText, find_skills
from coderelay.config.skills_and_commands.trusted_text_files import TextFolder, places_of
from tests.config.text_folders import Shelf


def find(shelf: Shelf, seen: dict[str, str] | None = None) -> Skills:
    return find_skills(shelf.places("skills"), seen or {})


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    return Shelf(tmp_path)


@pytest.mark.quick
def test_c34_a_person_has_skills_in_two_places(shelf: Shelf) -> None:
    pdf = shelf.put_skill(
        shelf.home / "skills", "pdf", "reads PDF files", "Use pdftotext.", "allowed-tools: Read, Bash(pdf*)"
    )
    web = shelf.put_skill(shelf.user / ".claude/skills", "web", "asks first", "Go.", "disable-model-invocation: true")
    found = find(shelf)
    assert found == Skills(
        (
            Skill("pdf", "reads PDF files", str(pdf), TextFolder(str(shelf.home / "skills")), ("Read", "Bash(pdf*)")),
            Skill("web", "asks first", str(web), TextFolder(str(shelf.user / ".claude/skills")), by_name_only=True),
        )
    )
    assert found.load("pdf") == SkillText("Use pdftotext.")
    assert found.load("nothing").note == "there is no skill 'nothing'; there are: pdf, web"


def test_c34_without_any_place_there_are_none(tmp_path: Path) -> None:
    places = places_of("skills", home=str(tmp_path / "a"), user_home=str(tmp_path / "b"), folder=str(tmp_path / "c"))
    assert find_skills(places, {}) == Skills()
    assert find_skills(places, {}).load("x") == SkillText(note="there is no skill 'x'; there are: none")


@pytest.mark.quick
def test_x36_c34_a_folders_skills_count_only_as_the_person_has_seen_them(shelf: Shelf) -> None:
    file = shelf.put_skill(shelf.folder / ".coder/skills", "deploy", "deploys", "Run make deploy.")
    shelf.put_skill(shelf.folder / ".claude/skills", "review", "reviews", "Look.")
    assert find(shelf) == Skills(
        (),
        (
            "skills not trusted yet (review them with /trust): "
            ".coder/skills/deploy/SKILL.md, .claude/skills/review/SKILL.md",
        ),
        ("deploy", "review"),
    )
    seen = shelf.trusted()
    found = find(shelf, seen)
    assert ([each.name for each in found.found], found.notes) == (["deploy", "review"], ())
    assert found.load("deploy") == SkillText("Run make deploy.")

    file.write_text(file.read_text().replace("make deploy", "curl evil"))
    assert "has changed since it was trusted" in found.load("deploy").note
    assert found.load("deploy").text == ""
    again = find(shelf, seen)
    assert [each.name for each in again.found] == ["review"]
    assert again.notes == ("skills not trusted yet (review them with /trust): .coder/skills/deploy/SKILL.md",)


def test_c34_an_untrusted_skill_does_not_hide_the_persons_own(shelf: Shelf) -> None:
    own = shelf.put_skill(shelf.home / "skills", "commit", "mine")
    shelf.put_skill(shelf.folder / ".coder/skills", "commit", "theirs")
    assert [(each.description, each.file) for each in find(shelf).found] == [("mine", str(own))]


@pytest.mark.quick
def test_c34_of_two_with_one_name_the_nearer_is_used_and_it_is_said(shelf: Shelf) -> None:
    places = (shelf.folder / ".coder", shelf.folder / ".claude", shelf.home, shelf.user / ".claude")
    files = [shelf.put_skill(place / "skills", "commit", str(place)) for place in places]
    found = find(shelf, shelf.trusted())
    assert [(each.name, each.file) for each in found.found] == [("commit", str(files[0]))]
    assert found.notes == tuple(f"commit: {files[0]} is used, not {each}" for each in files[1:])


def test_c34_one_folder_by_two_names_is_no_clash(shelf: Shelf) -> None:
    shelf.put_skill(shelf.folder / ".coder/skills", "commit")
    (shelf.folder / ".claude").symlink_to(shelf.folder / ".coder")
    assert (len(find(shelf, shelf.trusted()).found), find(shelf, shelf.trusted()).notes) == (1, ())


def test_c34_a_folder_that_is_the_persons_home_needs_no_trust(tmp_path: Path) -> None:
    home = tmp_path / ".coder"
    for place in (home / "skills/a", tmp_path / ".claude/skills/b"):
        place.mkdir(parents=True)
        (place / "SKILL.md").write_text("---\ndescription: x\n---\n")
    places = places_of("skills", home=str(home), user_home=str(tmp_path), folder=str(tmp_path))
    found = find_skills(places, {})
    assert ([each.name for each in found.found], found.notes) == (["a", "b"], ())


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"no head at all", "it needs a description, which says what it is for and when to use it"),
        (b"", "it needs a description, which says what it is for and when to use it"),
        (b"---\nname: x\n---\n", "it needs a description, which says what it is for and when to use it"),
        (b"---\nname: x\n", "line 1: the front matter that begins with --- must end with --- within 200 lines"),
        (b"---\nname: !x\ndescription: d\n---\n", "line 2: name begins with !, so it must be in quotes"),
        (b"---\ndescription: \xff\n---\n", "it is not UTF-8: byte 18"),
        (b"---\ndescription: a\0b\n---\n", "it is not a text"),
        (b"x" * (64 * 1024 + 1), "it is larger than 65536 bytes"),
    ],
)
def test_c34_a_broken_skill_is_a_note_and_the_others_stay(shelf: Shelf, content: bytes, complaint: str) -> None:
    shelf.put_skill(shelf.home / "skills", "good")
    bad = shelf.home / "skills/bad/SKILL.md"
    bad.parent.mkdir()
    bad.write_bytes(content)
    found = find(shelf)
    assert ([each.name for each in found.found], found.notes) == (["good"], (f"{bad} is not used: {complaint}",))


def test_c34_what_is_no_skill_at_all_is_left_alone_or_said(shelf: Shelf) -> None:
    skills = shelf.home / "skills"
    shelf.put_skill(skills, "good")
    (skills / "README.md").write_text("about")
    (skills / "empty").mkdir()
    (skills / "folder/SKILL.md").mkdir(parents=True)
    (skills / "gone").symlink_to(skills / "nowhere")
    (skills / "pipe").mkdir()
    os.mkfifo(skills / "pipe/SKILL.md")
    found = find(shelf)
    assert [each.name for each in found.found] == ["good"]
    assert [note.partition(" is not used: ")[0] for note in found.notes] == [
        str(skills / name / "SKILL.md") for name in ("empty", "folder", "pipe")
    ]


def test_c34_a_skill_that_is_gone_when_it_is_needed_is_a_note(shelf: Shelf) -> None:
    file = shelf.put_skill(shelf.home / "skills", "pdf")
    found = find(shelf)
    file.unlink()
    assert found.load("pdf").text == ""
    assert found.load("pdf").note.startswith(f"{file} is not used: ")


def test_c34_text_that_a_terminal_would_obey_is_made_visible(shelf: Shelf) -> None:
    shelf.put_skill(shelf.home / "skills", "x", "red \x1b[31m and \u202e back\u200b", "b", "allowed-tools: A\x1b")
    (skill,) = find(shelf).found
    assert (skill.description, skill.allowed_tools) == ("red \\x1b[31m and \\u202e back\\u200b", ("A\\x1b",))


def test_c34_descriptions_and_numbers_are_bounded(shelf: Shelf) -> None:
    for number in range(103):
        shelf.put_skill(shelf.home / "skills", f"s{number:03}", "long " * 1000)
    found = find(shelf)
    assert len(found.found) == 100
    assert {len(each.description) for each in found.found} == {1024}
    assert found.notes == (f"{shelf.home / 'skills'} has more than 100 skills; the rest is not used",)


@pytest.mark.quick
def test_x36_a_hostile_repository_reaches_nothing_outside_of_it(shelf: Shelf, tmp_path: Path) -> None:
    """Neither through a link in place of a file, a skill, all skills, nor the whole folder of ours."""
    secret = shelf.put_skill(tmp_path / "elsewhere", "secret", "key", "the password")
    skills = shelf.folder / ".coder/skills"
    (skills / "file").mkdir(parents=True)
    (skills / "file/SKILL.md").symlink_to(secret)
    (skills / "skill").symlink_to(secret.parent)
    (skills / "up").mkdir()
    (skills / "up/SKILL.md").symlink_to("../../../../elsewhere/secret/SKILL.md")
    (shelf.folder / ".claude").mkdir()
    (shelf.folder / ".claude/skills").symlink_to(secret.parent.parent)
    assert shelf.trusted() == {}
    found = find(shelf, {f".coder/skills/{name}/SKILL.md": "" for name in ("file", "skill", "up")})
    assert found.found == ()
    assert len(found.notes) == 4
    assert all("outside" in note and "password" not in note for note in found.notes)


def test_c34_a_link_out_of_a_skills_own_folder_is_not_followed(shelf: Shelf) -> None:
    other = shelf.put_skill(shelf.folder, "other", "in the same repository")
    for place in (shelf.folder / ".coder/skills", shelf.home / "skills"):
        (place / "linked").mkdir(parents=True)
        (place / "linked/SKILL.md").symlink_to(other)
    assert (find(shelf, shelf.trusted()).found, shelf.trusted()) == ((), {})


def test_c34_a_persons_own_skill_may_be_a_link_to_where_it_is_kept(shelf: Shelf, tmp_path: Path) -> None:
    shelf.put_skill(tmp_path / "dotfiles", "pdf", "reads", "Read.")
    (shelf.home / "skills").mkdir()
    (shelf.home / "skills/pdf").symlink_to(tmp_path / "dotfiles/pdf")
    assert find(shelf).load("pdf") == SkillText("Read.")


def test_x36_a_link_inside_of_the_repository_is_followed(shelf: Shelf) -> None:
    shelf.put_skill(shelf.folder / "tools/skills", "pdf", "reads", "Read.")
    (shelf.folder / ".coder").mkdir()
    (shelf.folder / ".coder/skills").symlink_to("../tools/skills")
    seen = shelf.trusted()
    assert list(seen) == [".coder/skills/pdf/SKILL.md"]
    assert find(shelf, seen).load("pdf") == SkillText("Read.")


def test_x36_a_skill_added_after_trust_does_not_count(shelf: Shelf) -> None:
    shelf.put_skill(shelf.folder / ".coder/skills", "a")
    seen = shelf.trusted()
    shelf.put_skill(shelf.folder / ".coder/skills", "b")
    assert [each.name for each in find(shelf, seen).found] == ["a"]


def test_x36_a_name_that_is_not_utf8_is_not_used(shelf: Shelf) -> None:
    folder = os.fsencode(shelf.folder / ".coder/skills") + b"/bad\xff\n"
    os.makedirs(folder)
    Path(os.fsdecode(folder + b"/SKILL.md")).write_text("---\nname: x\ndescription: d\n---\n")
    found = find(shelf, shelf.trusted())
    assert found.found == ()
    assert [note.isprintable() for note in found.notes] == [True]


def test_c34_a_title_in_place_of_a_name_leaves_the_folders_name(shelf: Shelf) -> None:
    for folder, name in (
        ("pdf", "PDF Processing"),
        ("up", "../up"),
        ("long", "x" * 65),
        ("no words", "a b"),
        ("ok", "n" * 64),
    ):
        shelf.put(shelf.home / "skills" / folder / "SKILL.md", f"---\nname: {name}\ndescription: d\n---\n")
    found = find(shelf)
    assert [each.name for each in found.found] == ["long", "n" * 64, "pdf", "up"]
    assert found.notes == (
        f"{shelf.home}/skills/no words/SKILL.md is not used: "
        "its name may contain only letters, digits and . _ -, and at most 64 characters",
    )
