"""The values that the settings of a session can have."""

from typing import TYPE_CHECKING, Literal

from coderelay.protocol.modes import MODE_NAMES

__all__ = ["Mode", "Persistence", "Preset", "Profile", "Think", "When"]

if TYPE_CHECKING:
    from coderelay.protocol.modes import Mode
else:
    Mode = Literal[MODE_NAMES]  # the same type; `modes` does not import typing at run time
Preset = Literal["strict", "balanced", "auto-edit", "yolo"]
"""What mode `default` allows."""

Think = Literal["auto", "off", "low", "medium", "high"]
When = Literal["now", "next_turn"]
Persistence = Literal["until_final", "always"]
Profile = Literal["", "cowork"]
"""How a session differs from what its mode says. In `cowork`, what the policy would ask about is allowed."""
