"""What is configured of servers: variables, marks, and what lists of tools mean by their names."""

import pytest

from coderelay.config.secrets_in_settings import hide_secrets
from coderelay.config.settings import McpServerConfig
from coderelay.tools.builtin_tools import SPECS
from coderelay.tools.mcp.server_settings import fill_variables, mark_of, private_values
from coderelay.tools.mcp.server_transport_interface import ServerFailed

VARIABLES = {"TOKEN": "t0ken", "PLACE": "here"}


def test_a_reference_is_a_variable_and_nothing_else_is() -> None:
    values = {"a": "Bearer ${TOKEN}", "b": "$TOKEN ${} ${A B}", "c": "${PLACE}/${TOKEN}"}
    assert fill_variables(values, VARIABLES) == {"a": "Bearer t0ken", "b": "$TOKEN ${} ${A B}", "c": "here/t0ken"}


def test_a_reference_may_say_what_counts_without_the_variable() -> None:
    values = {"a": "${PLACE:-there}", "b": "${NO:-there}", "c": "${NO:-}"}
    assert fill_variables(values, VARIABLES) == {"a": "here", "b": "there", "c": ""}


def test_every_variable_that_is_missing_is_named_once() -> None:
    with pytest.raises(ServerFailed) as failed:
        fill_variables({"a": "${NO} ${TOKEN}", "b": "${NEITHER} ${NO}"}, VARIABLES)
    assert failed.value.what == "needs NO, NEITHER in the environment"


def test_what_may_be_a_secret_is_known_without_the_word_before_it() -> None:
    server = McpServerConfig(url="https://far.example", headers={"Authorization": "Bearer ${TOKEN}", "X-Key": "abc"})
    assert private_values(server, VARIABLES) == {"Authorization": "t0ken", "X-Key": "abc"}


def test_a_mark_is_of_the_program_with_all_that_makes_it_another_one() -> None:
    others = [
        McpServerConfig(command="a", args=("b",)),
        McpServerConfig(command="a", args=("b",), env={"NODE_OPTIONS": "--require ./evil.js"}),
        McpServerConfig(command="a", args=("b",), env={"PATH": "./bin"}),
        McpServerConfig(command="a b"),
        McpServerConfig(command="a"),
        McpServerConfig(url="https://a"),
        McpServerConfig(url="https://a", headers={"X-Tenant": "b"}),
    ]
    assert len({mark_of(each, "/here") for each in others}) == len(others)
    assert [mark_of(each, "/here") for each in others] == [mark_of(each, "/there") for each in others]


def test_a_program_by_a_relative_path_is_another_one_elsewhere() -> None:
    relative, absolute = McpServerConfig(command="./server"), McpServerConfig(command="/bin/server")
    assert mark_of(relative, "/here") != mark_of(relative, "/there")
    assert mark_of(absolute, "/here") == mark_of(absolute, "/there")


def test_the_name_of_a_variable_is_shown_and_a_secret_is_not() -> None:
    headers = {"Authorization": "Bearer ${TOKEN}", "Cookie": "a${TOKEN}", "X-Api-Key": "abc"}
    assert hide_secrets(headers) == {"Authorization": "Bearer ${TOKEN}", "Cookie": "***", "X-Api-Key": "***"}


@pytest.mark.parametrize(
    ("name", "tool", "is_meant"),
    [
        ("mcp__good", "mcp__good__echo", True),
        ("mcp__good__*", "mcp__good__echo", True),
        ("mcp__*", "mcp__good__echo", True),
        ("mcp__good__echo", "mcp__good__echo", True),
        ("MCP__Good__Echo", "mcp__good__echo", True),
        ("mcp__goo", "mcp__good__echo", False),
        ("mcp__goo*", "mcp__good__echo", False),
        ("mcp__good__echo", "mcp__good__echo__all", False),
        ("mcp", "mcp__good__echo", False),
        ("*", "mcp__good__echo", False),
        ("read", "mcp__read__read", False),
        ("mcp__good", "read", False),
    ],
)
def test_which_tools_of_servers_a_list_of_tools_means(name: str, tool: str, is_meant: bool) -> None:
    assert SPECS.is_allowed(tool, (name,)) is is_meant
