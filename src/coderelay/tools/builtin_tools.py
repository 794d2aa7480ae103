"""The list of built-in tools, in the order in which models are told of them.

To add a tool, add its class to `TOOLS`.
"""

from typing import Any

from coderelay.protocol.tool_specs import ToolSpecs
from coderelay.tools.ask_user import AskUser
from coderelay.tools.bash import Bash
from coderelay.tools.bash_output_and_stop import BashOutput, BashStop
from coderelay.tools.edit import Edit
from coderelay.tools.glob import GlobFiles
from coderelay.tools.grep import Grep
from coderelay.tools.list_files import ListFilesTool
from coderelay.tools.patch import Patch
from coderelay.tools.plan_exit import PlanExit
from coderelay.tools.read import Read
from coderelay.tools.skill import SkillTool
from coderelay.tools.task import Task
from coderelay.tools.todo import Todo
from coderelay.tools.tool import Tool
from coderelay.tools.web_fetch import WebFetch
from coderelay.tools.write import Write

TOOLS: tuple[type[Tool[Any]], ...] = (
    *(Read, ListFilesTool, GlobFiles, Grep, Write, Edit, Patch),
    *(Bash, BashOutput, BashStop),
    *(Todo, AskUser, PlanExit, Task, WebFetch, SkillTool),
)
SPECS = ToolSpecs(tool.spec for tool in TOOLS)
