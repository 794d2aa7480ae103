"""What needs no asking in a session, for people."""

from typing import Literal

from msgspec import Struct

from coderelay.protocol.asks import Approval
from coderelay.protocol.events import Mode, Preset


class PermissionsShown(Struct, frozen=True):
    """`matrix` is the table in force, `rules` the person's own as they are written, strictest first. `sandbox` is
    what commands run in; nothing is not known. `skills_run`: nobody is asked while a skill is in use."""

    mode: Mode
    preset: Preset
    matrix: tuple[tuple[str, Literal["allow", "sandboxed", "ask", "deny"]], ...]
    rules: tuple[tuple[Literal["deny", "ask", "allow"], str], ...] = ()
    approvals: tuple[Approval, ...] = ()
    allowed_tools: tuple[str, ...] = ()
    sandbox: str = ""
    skills_run: bool = False
