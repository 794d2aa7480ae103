"""What the native agent is told about one folder: limits, skills, subagents, further tools."""

from typing import TYPE_CHECKING, Any

from msgspec import Struct, field

from coderelay.agents.native.compaction import CompactionSettings
from coderelay.agents.native.workflow.workflow_settings import WorkflowSettings
from coderelay.models.api_errors import FIRST_SECONDS
from coderelay.policy.secrets.masking import Secrets
from coderelay.protocol.query_results import SkillShown, SubagentShown
from coderelay.tools.tool import Tool

if TYPE_CHECKING:
    pass


class NativeSettings(Struct, frozen=True):
    """`home` is the folder with the person's own instructions. `retry_seconds` is the first pause before a failed
    request is retried, 0 for no retries. `skills` are those the model may choose from, `subagents` those it may give
    tasks to by name, `tools` are extra tools of this folder, and `notes` are messages for people."""

    home: str
    disabled_tools: tuple[str, ...] = ()
    compaction: CompactionSettings = CompactionSettings()
    retry_seconds: float = FIRST_SECONDS
    secrets: Secrets = field(default_factory=Secrets)
    workflow: WorkflowSettings = WorkflowSettings()
    skills: tuple[SkillShown, ...] = ()
    subagents: tuple[SubagentShown, ...] = ()
    tools: tuple[Tool[Any], ...] = ()
    notes: tuple[str, ...] = ()
