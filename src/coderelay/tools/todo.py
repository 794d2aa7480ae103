"""The `todo` tool: replaces the to-do list; every call gives the whole list."""

from coderelay.protocol.calls import Finished, Need
from coderelay.protocol.errors import ToolFailed
from coderelay.protocol.query_results import TODO, Item, TodoArguments
from coderelay.protocol.tool_specs import ToolSpec
from coderelay.protocol.translatable import say
from coderelay.workspace.workspace import Workspace

_MOST = 100


class Todo:
    spec = ToolSpec(
        name=TODO,
        acp_kind="think",
        description="Keep the list of what is to be done, for work of three or more steps. Give the whole list each "
        "time; it replaces the one before. One item at most is in_progress. Mark an item completed as soon as it is.",
        parameters={
            "type": "object",
            "properties": {
                "items": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "properties": {
                            "content": {"type": "string"},
                            "status": {"type": "string", "enum": ["pending", "in_progress", "completed"]},
                            "priority": {"type": "string", "enum": ["high", "medium", "low"]},
                        },
                        "required": ["content", "status"],
                        "additionalProperties": False,
                    },
                }
            },
            "required": ["items"],
            "additionalProperties": False,
        },
        external_name="TodoWrite",
        external_arguments={"items": "todos"},
        always_allowed=True,
        headline="",
        result_shown="todos",
        chinese="维护待办列表，用于三步以上的工作。",
        chinese_results={
            "{done} of {all} done": "已完成 {done} / {all}",
            "{done} of {all} done{rest}": "已完成 {done} / {all}{rest}",
            ", now: {item}": "，正在进行：{item}",
            "an item has no content": "有一项没有内容",
            "only one item may be in_progress; mark the others pending or completed": (
                "只能有一项为 in_progress；请将其他项标为 pending 或 completed"
            ),
        },
    )
    arguments = TodoArguments

    def need(self, arguments: TodoArguments, workspace: Workspace) -> Need:
        items = arguments.items
        if len(items) > _MOST:
            raise ToolFailed(say("{count} items are too many; {most} at most", count=len(items), most=_MOST))
        if any(not each.content.strip() for each in items):
            raise ToolFailed("an item has no content")
        if sum(each.status == "in_progress" for each in items) > 1:
            raise ToolFailed("only one item may be in_progress; mark the others pending or completed")
        return Need(tool=TODO, kind="read", title=_summary(items))

    async def run(self, arguments: TodoArguments, workspace: Workspace) -> Finished:
        return Finished(output="The list is kept.", summary=_summary(arguments.items))


def _summary(items: tuple[Item, ...]) -> str:
    done = sum(each.status == "completed" for each in items)
    current = next((each.content for each in items if each.status == "in_progress"), "")
    if not current:
        return say("{done} of {all} done", done=done, all=len(items))
    return say("{done} of {all} done{rest}", done=done, all=len(items), rest=say(", now: {item}", item=current))
