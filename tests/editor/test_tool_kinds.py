"""What kind of call an editor draws."""

import pytest

from coderelay.protocol.calls import Need
from coderelay.surfaces.editor.session_updates import SessionUpdates

pytestmark = pytest.mark.quick


@pytest.mark.parametrize(
    ("need", "kind"),
    [
        (Need("read", "read", "a.py"), "read"),
        (Need("grep", "read", "x"), "search"),
        (Need("glob", "read", "*.py"), "search"),
        (Need("todo", "read", "0 of 1 done"), "think"),
        (Need("plan_exit", "ask", "the plan", plan="the plan"), "switch_mode"),
        (Need("ask_user", "ask", "which?"), "other"),
        (Need("bash", "command", "ls", command="ls"), "execute"),
        (Need("mcp__shop__buy", "mcp", "shop: buy"), "other"),
    ],
)
def test_a_call_has_the_kind_of_its_tool_or_else_of_what_it_needs(need: Need, kind: str) -> None:
    assert SessionUpdates("/w", "default", shows_notices=True).call_fields(need)["kind"] == kind
