"""Outcomes as stories compare them."""

from typing import TypeVar

from msgspec.structs import replace

from coderelay.protocol.calls import Denied, Failed, Finished, Outcome

AnyOutcome = TypeVar("AnyOutcome", bound=Outcome)


def in_english(outcome: AnyOutcome) -> AnyOutcome:
    """The English text alone; `tests/language/test_templates.py` is about the template beside it."""
    return replace(outcome, said=None) if isinstance(outcome, Finished | Failed | Denied) else outcome
