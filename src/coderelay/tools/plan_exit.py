"""The `plan_exit` tool: asks the person to approve a plan; their decision is the result of the call."""

from msgspec import Struct

from coderelay.protocol.asks import PlanAsk
from coderelay.protocol.calls import Finished, Need
from coderelay.protocol.errors import ToolFailed
from coderelay.protocol.tool_specs import ToolSpec
from coderelay.workspace.workspace import Workspace


class PlanExitArguments(Struct, frozen=True, forbid_unknown_fields=True):
    plan: str


class PlanExit:
    spec = ToolSpec(
        name="plan_exit",
        kind="ask",
        acp_kind="switch_mode",
        description="In plan mode, when the plan is complete: put it before the person for approval.",
        parameters={
            "type": "object",
            "properties": {"plan": {"type": "string", "description": "the whole plan, in Markdown"}},
            "required": ["plan"],
            "additionalProperties": False,
        },
        external_name=PlanAsk.external_name,
        always_allowed=True,
        refusal_in_subagents="there is no plan to approve here: answer the agent that you work for",
        headline="plan",
        chinese="在 plan 模式下，计划完成后提交用户批准。",
        chinese_results={
            "the plan is empty": "计划为空",
        },
    )
    arguments = PlanExitArguments

    def need(self, arguments: PlanExitArguments, workspace: Workspace) -> Need:
        if not arguments.plan.strip():
            raise ToolFailed("the plan is empty")
        title = arguments.plan.strip().partition("\n")[0]
        return Need(tool="plan_exit", kind="ask", title=title, plan=arguments.plan)

    async def run(self, arguments: PlanExitArguments, workspace: Workspace) -> Finished:
        raise ToolFailed("the question was not shown to anybody")  # a decided plan ends the call without running it
