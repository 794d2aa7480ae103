"""The ways to confine commands."""

from typing import Literal

SandboxBackend = Literal["bubblewrap", "sandlock", "none"]
"""The way commands are confined, the best one first."""
