"""The `skill` tool: loads the instructions of a skill that the model was told of, when it needs them."""

from collections.abc import Callable

from msgspec import Struct

from coderelay.protocol.calls import Finished, Need
from coderelay.protocol.errors import ToolFailed
from coderelay.protocol.tool_specs import ToolSpec
from coderelay.protocol.translatable import say
from coderelay.workspace.workspace import Workspace

LoadSkill = Callable[[str, str], str]
"""Returns the current text of a skill, by folder and name. Raises ToolFailed."""


class SkillArguments(Struct, frozen=True, forbid_unknown_fields=True):
    name: str


class SkillTool:
    spec = ToolSpec(
        name="skill",
        description="Load the instructions of one of the skills you were told of, before you begin the kind of work "
        "that it describes.",
        parameters={
            "type": "object",
            "properties": {"name": {"type": "string", "description": "as it stands in the list of skills"}},
            "required": ["name"],
            "additionalProperties": False,
        },
        external_name="SkillTool",
        headline="name",
        result_shown="summary",
        chinese="开始某类工作之前，加载相应技能的说明。",
        chinese_results={
            "loaded": "已加载",
        },
    )
    arguments = SkillArguments

    def __init__(self, load: LoadSkill) -> None:
        self._load = load

    def need(self, arguments: SkillArguments, workspace: Workspace) -> Need:
        return Need(tool="skill", kind="read", title=arguments.name)

    async def run(self, arguments: SkillArguments, workspace: Workspace) -> Finished:
        try:
            text = self._load(workspace.root, arguments.name)
        except ToolFailed as failed:
            raise ToolFailed(say("{problem}. Go on without it.", problem=failed.message)) from failed
        return Finished(text, summary="loaded", skill=arguments.name)
