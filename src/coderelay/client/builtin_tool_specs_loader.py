"""The specs of our own tools, for packages that may not import the tools."""

from functools import cache

from coderelay.protocol.tool_specs import ToolSpecs


@cache
def tool_specs() -> ToolSpecs:
    from coderelay.tools.builtin_tools import SPECS  # loaded for the first call shown, not before the prompt

    return SPECS
