"""The settings of the native agent in one folder: limits, its workflow, skills, subagents, further tools."""

from typing import Any, Literal

from msgspec import Struct, field

from coderelay.agents.native.compaction import CompactionSettings
from coderelay.agents.native.model_request_with_retries import FIRST_SECONDS
from coderelay.policy.secrets.masking import Secrets
from coderelay.protocol.query_results import SkillShown, SubagentShown
from coderelay.tools.tool import Tool

Language = Literal["en", "zh"]

MOST_RETRIES = 2


class VerificationSettings(Struct, frozen=True):
    enabled: bool = True
    attempts: int = MOST_RETRIES
    commands: tuple[str, ...] = ()

    @property
    def max_verification_runs(self) -> int:
        """How often a check may run. The configuration can only lower this limit."""
        return 1 + min(MOST_RETRIES, self.attempts)


class WorkflowSettings(Struct, frozen=True):
    """`todos` says whether a complex prompt begins with a todo list. `language` is the language of the workflow's
    messages."""

    todos: bool = True
    verification: VerificationSettings = VerificationSettings()
    language: Language = "en"


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
