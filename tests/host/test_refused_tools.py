"""Lists of allowed tools, in which a name with a `-` before it refuses a tool."""

import pytest

from coderelay.client.builtin_tool_specs_loader import tool_specs
from coderelay.host.tool_list_intersection import tools_in_both


@pytest.mark.parametrize(
    ("allowed", "tool", "verdict"),
    [
        ((), "bash", True),
        (("-bash",), "bash", False),
        (("- Bash ",), "bash", False),
        (("-bash",), "read", True),
        (("-bash",), "mcp__a__b", True),
        (("-mcp__a",), "mcp__a__b", False),
        (("-mcp__a",), "mcp__c__b", True),
        (("read", "-bash"), "grep", False),
        (("read", "bash", "-bash"), "bash", False),
    ],
)
def test_a_list_names_or_refuses_tools(allowed: tuple[str, ...], tool: str, verdict: bool) -> None:
    assert tool_specs().is_allowed(tool, allowed) is verdict


@pytest.mark.parametrize(
    ("own", "other"),
    [
        (("-bash",), ("-web_fetch",)),
        (("-bash",), ("read", "bash")),
        (("read", "bash"), ("-bash",)),
        (("read", "bash", "-grep"), ("bash", "-read")),
        (("read", "-grep"), ("bash",)),
    ],
)
def test_what_two_lists_allow_together_each_of_them_allows(own: tuple[str, ...], other: tuple[str, ...]) -> None:
    is_allowed = tool_specs().is_allowed
    both = tools_in_both(own, other)
    for tool in (each.name for each in tool_specs()):
        assert is_allowed(tool, both) is (is_allowed(tool, own) and is_allowed(tool, other)), tool
