"""A list to pick from: arrows move, words narrow it down."""

from coderelay.surfaces.terminal.drawing.ansi_styles import without_colours
from coderelay.surfaces.terminal.picker import Picker, PickerChoice

NAMES = (("one", "red"), ("two", "blue"), ("三", "Red"))
CHOICES = [PickerChoice(f"/resume {name}", name, meaning) for name, meaning in NAMES]


def shown(picker: Picker, width: int = 80) -> list[str]:
    return without_colours(picker.lines(width)).splitlines()


def test_arrows_go_round_the_list() -> None:
    picker = Picker("Sessions", CHOICES)
    names: list[str] = []
    for by in (1, 1, 1, -1):
        picker.move(by)
        assert picker.chosen is not None
        names.append(picker.chosen.line)
    assert names == ["/resume two", "/resume 三", "/resume one", "/resume 三"]


def test_what_is_typed_narrows_it_down_in_any_case_and_order() -> None:
    picker = Picker("Sessions", CHOICES)
    picker.filter("RED")
    assert shown(picker)[1:] == ["❯ one  red", "  三   Red"]
    picker.filter("red 三")
    assert shown(picker)[1:] == ["❯ 三  Red"]
    picker.filter("nothing like that")
    assert (shown(picker)[1:], picker.chosen) == ([], None)
    picker.move(1)
    assert picker.chosen is None


def test_a_long_list_shows_the_part_around_what_is_chosen() -> None:
    picker = Picker("Many", [PickerChoice(f"/x {number}", f"n{number}", "m" * 200) for number in range(100)])
    for _ in range(50):
        picker.move(1)
    lines = shown(picker, 40)
    assert [line.split()[-2] for line in lines[1:]] == [f"n{number}" for number in range(45, 55)]
    assert all(len(line) <= 40 for line in lines[1:])
    assert lines[6].startswith("❯ n50")
