"""What is declared of a tool, and which tools a session may use."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

from msgspec import Struct

from coderelay.protocol.calls import Kind

RuleTarget = Literal["path", "command", "host"]
"""What the brackets of a permission rule contain: `edit(src/**)`, `bash(git push)`, `web_fetch(docs.python.org)`."""
ResultShown = Literal["output", "markdown", "summary", "todos"]
"""What people see of a successful call: its output, as plain text or as Markdown; only the one-line summary; or the
todo list that the call set."""

AcpKind = Literal["search", "think", "switch_mode"]


class ToolSpec(Struct, frozen=True):
    """The declaration of a tool: all that is known of it without running it. The tool's own file declares it;
    everything else reads it.

    The model gets the `name`, the `description` and the `parameters` (a JSON schema). `kind` is what a call does
    unless its need says otherwise. `plain` is the name that the tool would have if no other tool had that name.

    Front ends and hooks made for Claude know the tool as `external_name` (the same name if empty), and its arguments
    by the names in `external_arguments`. `external_extra` computes further fields that they expect from the
    arguments.

    A permission rule or a list of tools can refer to this tool by its name, by its external name and by the names in
    `covered_by`. `rule_target` is what the brackets of such a rule may contain. A list of tools never removes a tool
    that is `always_allowed`.

    A child session does not get a tool that has a `refusal_in_subagents` text, and is told that text as the reason.
    Models with a small context are offered only the tools that are `for_small_models`. They are shown a result as
    `result_for_small_models` makes it from the output.

    `headline` is the argument that people see of a call that could not be decoded (all arguments if it is empty or
    not declared). `result_shown` is what they see of a successful call. Editors are told the `acp_kind` instead of
    the kind if there is one. `chinese` is the first sentence of the description in Chinese; `chinese_results` maps
    the English summaries and failures that people see to Chinese, with the same `{placeholders}`.
    """

    name: str
    description: str
    parameters: dict[str, Any]
    kind: Kind = "read"
    plain: str = ""
    external_name: str = ""
    external_arguments: dict[str, str] = {}
    external_extra: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    covered_by: tuple[str, ...] = ()
    rule_target: RuleTarget | None = None
    always_allowed: bool = False
    refusal_in_subagents: str = ""
    for_small_models: bool = False
    result_for_small_models: Callable[[str], str] | None = None
    headline: str | None = None
    result_shown: ResultShown = "output"
    acp_kind: AcpKind | None = None
    chinese: str = ""
    chinese_results: dict[str, str] = {}


def first_sentence(description: str) -> str:
    """The short description of a tool, for people and for models with a small context."""
    sentence, dot, _ = " ".join(description.split()).partition(". ")
    return f"{sentence}." if dot else sentence


class ToolSpecs:
    """The specs of all tools. Built once from the list of tools, for packages that may not import the tools."""

    def __init__(self, specs: Iterable[ToolSpec]) -> None:
        self._specs = {spec.name: spec for spec in specs}

    def __iter__(self) -> Iterator[ToolSpec]:
        return iter(self._specs.values())

    def spec_of(self, tool: str) -> ToolSpec:
        """The spec of a tool. A tool of another program or of an older version gets a spec that has only its name."""
        return self._specs.get(tool) or ToolSpec(tool, "", {})

    def called(self, name: str) -> ToolSpec | None:
        """The tool with this name or outside name. The name must be in lower case."""
        return next((spec for spec in self if name in (spec.name, spec.external_name.lower())), None)

    def covered_by(self, name: str) -> frozenset[str]:
        """The names of the tools that a name in a rule or in a list of tools refers to. The name must be in lower
        case."""
        found = (spec.name for spec in self if name in (spec.name, spec.external_name.lower(), *spec.covered_by))
        return frozenset(found) or frozenset({name})

    def is_allowed(self, tool: str, allowed: tuple[str, ...]) -> bool:
        """Whether a list of tools allows a tool. Case and surrounding blanks are ignored. A name with a `-` before it
        is not allowed. A list without other names allows everything else."""
        if not allowed or self.spec_of(tool).always_allowed:
            return True
        listed, refused = listed_tools(allowed)
        return not self._is_among(tool, refused) and (not listed or self._is_among(tool, listed))

    def _is_among(self, tool: str, names: tuple[str, ...]) -> bool:
        return any(tool.lower() in self.covered_by(name) or _means_server(name, tool.lower()) for name in names)

    def external_name(self, tool: str) -> str:
        return self.spec_of(tool).external_name or tool

    def external_input(self, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments under their outside names. An argument that the tool does not know never overwrites one that
        it uses."""
        spec = self.spec_of(tool)
        renamed = spec.external_arguments
        others = {name: value for name, value in arguments.items() if name not in renamed}
        outside = others | {renamed[name]: value for name, value in arguments.items() if name in renamed}
        return outside if spec.external_extra is None else outside | spec.external_extra(arguments)


def listed_tools(allowed: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The tools that a list of allowed tools names, and those that it refuses with a `-`; all in lower case."""
    names = [name.strip().lower() for name in allowed]
    refused = tuple(name[1:].strip() for name in names if name.startswith("-"))
    return tuple(name for name in names if not name.startswith("-")), refused


def _means_server(name: str, tool: str) -> bool:
    """`mcp__server__*` and `mcp__server` stand for all tools of that MCP server."""
    beginning = name[:-1] if name.endswith("__*") else f"{name}__" if name.count("__") == 1 else ""
    return beginning.startswith("mcp__") and tool.startswith(beginning)
