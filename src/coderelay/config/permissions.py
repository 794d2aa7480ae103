"""Rules about what needs no asking: whether each of them means something."""

from coderelay.config.paths import printable
from coderelay.config.settings import Permissions
from coderelay.policy.rules import EXPECTED, OddRule, read_rule
from coderelay.protocol.errors import BadInput

_LONGEST = 60


def refuse_odd_rules(written: Permissions, file: str) -> None:
    """Raises BadInput. A rule that nobody understands would protect nobody."""
    if not (written.allow or written.ask or written.deny):
        return
    from coderelay.tools.all_tools import SPECS  # most people have no rules, and then nobody needs the tools here

    for name, texts in (("allow", written.allow), ("ask", written.ask), ("deny", written.deny)):
        for number, text in enumerate(texts):
            try:
                read_rule(SPECS, text)
            except OddRule as odd:
                shown = printable(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")
                raise BadInput(
                    f'{file}: permissions.{name}[{number}] must be {EXPECTED}, not "{shown}": {printable(str(odd))}'
                ) from odd
