"""What tools of servers are called, and how their arguments are described."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from coderelay.tools.mcp.mcp_tool import tool_names
from coderelay.tools.mcp.parameter_schema import parameters_of

PLAIN = {
    ("github", "create_issue"): "mcp__github__create_issue",
    ("my.server", "get/it now"): "mcp__my_server__get_it_now",
    ("a__b_", "c"): "mcp__a_b__c",
    ("时间", "现在"): "mcp__server___",
    ("fs", ""): "mcp__fs__tool",
}


@pytest.mark.parametrize("pair", PLAIN)
def test_names_in_letters_that_providers_take(pair: tuple[str, str]) -> None:
    assert tool_names([pair]) == [PLAIN[pair]]


def test_what_would_be_called_the_same_is_told_apart_by_what_it_is() -> None:
    same = [("a", "get.it"), ("a", "get_it"), ("a", "GET_it"), ("b", "get_it")]

    names = tool_names(same)
    assert len({name.lower() for name in names}) == 4
    assert names[3] == "mcp__b__get_it"
    assert sorted(tool_names(same[::-1])) == sorted(names)  # whoever comes first


def test_rules_know_no_capitals_so_names_do_not_differ_in_them_alone() -> None:
    assert len({name.lower() for name in tool_names([("a", "Get"), ("a", "GET")])}) == 2


def test_a_mark_that_somebody_made_up_is_nobody_elses() -> None:
    twins = [("evil", "x"), ("evil", "X")]
    forged = tool_names(twins)[0].removeprefix("mcp__evil__")
    names = tool_names([*twins, ("evil", forged)])
    assert len({name.lower() for name in names}) == 3


def test_a_rule_for_one_server_never_means_another() -> None:
    [other] = tool_names([("a__b", "c")])
    assert not other.startswith("mcp__a__")


@given(some.lists(some.tuples(some.text(max_size=80), some.text(max_size=120)), max_size=12, unique=True))
def test_every_name_is_one_of_its_own(pairs: list[tuple[str, str]]) -> None:
    names = tool_names(pairs)
    assert all(re.fullmatch(r"mcp__[A-Za-z0-9_-]{1,59}", name) for name in names)
    assert len({name.lower() for name in names}) == len(pairs)


DEEP: Any = json.loads("[" * 40 + "]" * 40)

SCHEMAS: list[tuple[Any, Any]] = [
    (None, {"type": "object", "properties": {}}),
    ({}, {"type": "object", "properties": {}}),
    (
        {"$schema": "x", "type": "object", "properties": {"a": {"anyOf": [{}]}}, "required": ["a"], "oneOf": [{}]},
        {"type": "object", "properties": {"a": {"anyOf": [{}]}}, "required": ["a"]},
    ),
    ({"type": "object", "title": "T"}, {"type": "object", "title": "T", "properties": {}}),
    ({"type": "string"}, None),
    ({"properties": {"a": 5}}, None),
    ({"properties": {"bad name\x1b": {}}}, None),
    ({"properties": {"a": {}}, "required": "a"}, None),
    ({"properties": {"a": {}}, "required": [1]}, None),
    ({"properties": {"a": {"enum": DEEP}}}, None),
    ({"type": "object", "properties": []}, None),
    ("rubbish", None),
    ({"type": "object", "properties": {"a": {"description": "x" * 40_000}}}, None),
]  # fmt: skip


@pytest.mark.parametrize(("given_schema", "told"), SCHEMAS)
def test_arguments_as_models_are_told_of_them(given_schema: Any, told: Any) -> None:
    assert parameters_of(given_schema) == told
