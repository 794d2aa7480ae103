"""The `task` tool: gives a task to a subagent with a context of its own; its answer is the result."""

from msgspec import Struct

from coderelay.protocol.calls import Finished, Need
from coderelay.protocol.errors import ToolFailed
from coderelay.protocol.tool_specs import ToolSpec
from coderelay.workspace.workspace import Workspace

_LONGEST = 80
_ANY = "general-purpose"


class TaskArguments(Struct, frozen=True, forbid_unknown_fields=True):
    description: str
    prompt: str
    subagent_type: str = ""


class Task:
    spec = ToolSpec(
        name="task",
        description="Let another agent do something in the same folder and get its answer: for searches and "
        "questions that take much reading, of which only the outcome matters to you. It knows nothing of this "
        "conversation, so the prompt must say everything, and what to answer. It only reads, unless the mode is "
        "auto-edit or yolo. Several tasks in one message are done at the same time.",
        parameters={
            "type": "object",
            "properties": {
                "description": {"type": "string", "description": "a few words, for the person"},
                "prompt": {"type": "string", "description": "the whole task"},
                "subagent_type": {"type": "string", "description": "the agent for it, if you were told of any"},
            },
            "required": ["description", "prompt"],
            "additionalProperties": False,
        },
        external_name="Task",
        refusal_in_subagents=(
            "you work for another agent already, and cannot give tasks to more of them; do it yourself"
        ),
        headline="description",
        result_shown="markdown",
        chinese="让另一个 agent 在同一目录中执行任务并返回结果：用于需要大量阅读、只关心结论的搜索与问题。",
        chinese_results={
            "a task needs a description and a prompt": "任务需要 description 和 prompt",
        },
    )
    arguments = TaskArguments

    def need(self, arguments: TaskArguments, workspace: Workspace) -> Need:
        """The kind is always `read`, whatever the task does: the calls of the other agent are judged in its own
        session."""
        if not arguments.description.strip() or not arguments.prompt.strip():
            raise ToolFailed("a task needs a description and a prompt")
        return Need(tool="task", kind="read", title=_title(arguments))

    async def run(self, arguments: TaskArguments, workspace: Workspace) -> Finished:
        return await workspace.give_task(_title(arguments), arguments.prompt, _subagent(arguments))


def _title(arguments: TaskArguments) -> str:
    name = _subagent(arguments)
    return _line(f"{name}: {arguments.description}" if name else arguments.description)


def _subagent(arguments: TaskArguments) -> str:
    """The name of the subagent that is meant; empty for `general-purpose`, which models know from other programs and
    which means a task without a named subagent."""
    name = arguments.subagent_type.strip()
    return "" if name == _ANY else name


def _line(text: str) -> str:
    """The description that people see beside everything the other agent asks: one short line, in which unprintable
    characters that might act unseen are replaced."""
    line = " ".join("".join(each if each.isprintable() else " " for each in text).split())
    return line if len(line) <= _LONGEST else f"{line[: _LONGEST - 1]}…"
