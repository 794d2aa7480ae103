"""Pieces of the protocol's form, by table."""

from coderelay.acp.request_params import EmbeddedResource, LinkBlock, ResourceBlock, TextBlock
from coderelay.acp.update_payloads import diff_content, fenced
from coderelay.surfaces.editor.prompt_content import prompt_content
from coderelay.workspace.files.line_diff import cut, unified_diff

NUMBERS = "".join(f"{n}\n" for n in range(40))


def test_each_hunk_of_a_diff_has_its_own_before_and_after() -> None:
    after = NUMBERS.replace("3\n", "three\n", 1).replace("39\n", "39")
    found = diff_content(unified_diff("a.txt", NUMBERS, after), ["/w/a.txt"])
    assert [(each["type"], each["path"]) for each in found] == [("diff", "/w/a.txt")] * 2
    assert found[0]["oldText"] == "0\n1\n2\n3\n4\n5\n6\n"
    assert found[0]["newText"] == "0\n1\n2\nthree\n4\n5\n6\n"
    assert (found[1]["oldText"], found[1]["newText"]) == ("36\n37\n38\n39\n", "36\n37\n38\n39")


def test_a_new_file_has_no_text_before_and_a_deleted_one_none_after() -> None:
    both = unified_diff("n", None, "new\n") + unified_diff("o", "old\n", None)
    assert diff_content(both, ["/w/n", "/w/o"]) == [
        {"type": "diff", "path": "/w/n", "newText": "new\n"},
        {"type": "diff", "path": "/w/o", "oldText": "old\n", "newText": ""},
    ]


def test_a_diff_that_was_cut_is_shown_as_text() -> None:
    diff = cut(unified_diff("a", NUMBERS, NUMBERS.replace("2", "two")), 60)
    [found] = diff_content(diff, ["/w/a"])
    assert found["content"]["text"].startswith("```\n--- a/a\n")
    assert diff_content("", []) == []


def test_a_fence_is_longer_than_those_inside() -> None:
    assert fenced("a\n````\nb\n") == "`````\na\n````\nb\n`````"


def test_files_in_a_prompt_are_named_as_a_person_would() -> None:
    blocks = (
        TextBlock("see "),
        LinkBlock("file:///w/src/a%20b.py#L3", "a b.py"),
        LinkBlock("https://example.org/x", "x"),
        LinkBlock("file:///other/c", "c"),
        ResourceBlock(EmbeddedResource("zed:///agent/selection", text="picked")),
        ResourceBlock(EmbeddedResource("file:///w/d.bin", blob="AAAA")),
    )
    found = prompt_content(blocks, "/w")
    assert found.typed == "see @src/a b.py#L3https://example.org/x@/other/czed:///agent/selection@d.bin"
    assert found.text == found.typed + (
        '\n\n<file path="zed:///agent/selection">\npicked\n</file>\n\n(d.bin is not a text, and was left out.)'
    )
