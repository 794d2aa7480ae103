"""What is known of our own tools, for the rooms that may not import the tools."""

from functools import cache

from coderelay.protocol.calls import ToolSpecs


@cache
def tool_specs() -> ToolSpecs:
    from coderelay.tools.all_tools import SPECS  # with the first call that is shown: a prompt is there before that

    return SPECS
