"""The spec of a tool says all that other rooms need to know of it, so that a new tool is one file."""

import re

import pytest

from coderelay.client.commands.tools_skills_agents_mcp import tools_in_words
from coderelay.client.old_log_text_translation import recognise
from coderelay.protocol.query_results import TODO, ToolShown
from coderelay.protocol.tool_specs import ToolSpec, first_sentence
from coderelay.tools.builtin_tools import SPECS, TOOLS
from tests.language.text_literals import PLACE

pytestmark = pytest.mark.quick

each_spec = pytest.mark.parametrize("spec", list(SPECS), ids=lambda spec: spec.name)


def test_no_two_tools_have_one_name() -> None:
    names = [name for tool in TOOLS for name in {tool.spec.name, tool.spec.external_name.lower()}]

    assert sorted(names) == sorted(set(names))


@each_spec
def test_a_tool_has_a_name_outside(spec: ToolSpec) -> None:
    assert spec.external_name
    assert spec.external_arguments.keys() <= spec.parameters["properties"].keys()


@each_spec
def test_a_tool_says_how_its_calls_are_drawn(spec: ToolSpec) -> None:
    assert spec.headline is not None, "the argument that says most, or nothing if all of them are to be shown"
    assert spec.headline == "" or spec.parameters["properties"][spec.headline]["type"] == "string"


@each_spec
def test_a_tool_says_what_a_rule_may_have_in_brackets(spec: ToolSpec) -> None:
    on = {"path": ("read", "edit"), "command": ("command",), "host": ("network",)}

    assert spec.rule_target is None or spec.kind in on[spec.rule_target]
    assert spec.rule_target is not None or spec.kind in ("read", "ask"), "a rule must be able to narrow what it does"
    assert {name for name in spec.covered_by if SPECS.called(name) is None} == set(), "rules do not know this name"


@each_spec
def test_a_tool_has_its_chinese(spec: ToolSpec) -> None:
    chinese = [spec.chinese, *spec.chinese_results.values()]

    assert [text for text in chinese if not re.search("[\u4e00-\u9fff]", text)] == []
    assert recognise(first_sentence(spec.description), "zh") == spec.chinese
    for english, told in spec.chinese_results.items():
        assert sorted(PLACE.findall(english)) == sorted(PLACE.findall(told))


def test_a_list_with_the_todo_tool_alone_allows_nothing_that_another_list_could_forbid() -> None:
    assert {spec.name for spec in SPECS if SPECS.is_allowed(spec.name, (TODO,))} == {
        spec.name for spec in SPECS if spec.always_allowed
    }


def test_what_a_language_lacks_is_told_in_english() -> None:
    shown = ToolShown("fly", "read", "Fly to a place. More for the model.", "")

    assert tools_in_words([shown]).endswith("Fly to a place.")
    assert recognise("Fly to a place.", "zh") == "Fly to a place."
