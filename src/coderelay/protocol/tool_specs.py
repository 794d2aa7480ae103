"""The specs of our own tools, found by the names that people and other programs write."""

from collections.abc import Iterable, Iterator
from typing import Any

from coderelay.protocol.calls import ToolSpec


class ToolSpecs:
    """Built once, from the list of tools, and handed to the rooms that may not import the tools."""

    def __init__(self, specs: Iterable[ToolSpec]) -> None:
        self._specs = {spec.name: spec for spec in specs}

    def __iter__(self) -> Iterator[ToolSpec]:
        return iter(self._specs.values())

    def spec_of(self, tool: str) -> ToolSpec:
        """A tool of another program, or one of an older version, has a spec that says nothing but its name."""
        return self._specs.get(tool) or ToolSpec(tool, "", {})

    def called(self, name: str) -> ToolSpec | None:
        """The tool that has this name here or outside. The name is in small letters."""
        return next((spec for spec in self if name in (spec.name, spec.outside_name.lower())), None)

    def covered_by(self, name: str) -> frozenset[str]:
        """The tools that a name in a rule or in a list of tools stands for. The name is in small letters."""
        found = (spec.name for spec in self if name in (spec.name, spec.outside_name.lower(), *spec.covered_by))
        return frozenset(found) or frozenset({name})

    def is_allowed(self, tool: str, allowed: tuple[str, ...]) -> bool:
        """Names compare without case or blanks around them. An empty list allows everything."""
        if not allowed or self.spec_of(tool).always_allowed:
            return True
        names = [name.strip().lower() for name in allowed]
        return any(tool.lower() in self.covered_by(name) or _means_server(name, tool.lower()) for name in names)

    def outside_name(self, tool: str) -> str:
        return self.spec_of(tool).outside_name or tool

    def outside_input(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """A field that the tool does not know never takes the place of one that it uses."""
        spec = self.spec_of(tool)
        renamed = spec.outside_arguments
        others = {name: value for name, value in arguments.items() if name not in renamed}
        outside = others | {renamed[name]: value for name, value in arguments.items() if name in renamed}
        return outside if spec.outside_extra is None else outside | spec.outside_extra(arguments)


NO_SPECS = ToolSpecs(())


def _means_server(name: str, tool: str) -> bool:
    """`mcp__server__*` and `mcp__server` stand for all tools of that server."""
    beginning = name[:-1] if name.endswith("__*") else f"{name}__" if name.count("__") == 1 else ""
    return beginning.startswith("mcp__") and tool.startswith(beginning)
