"""Which skills there are, so that the model can load one that fits what is asked."""

from collections.abc import Mapping, Sequence

from coderelay.protocol.content import Note
from coderelay.protocol.session_info import SkillShown

TOPIC = "skills"
_SHARE = 0.16  # bytes for each token of the window: a twenty-fifth of it
_SHORTEST = 60

_OFFER = "Instructions for certain kinds of work. If one fits what is asked, load it with skill before you begin."
_GONE = "<skills>The skills you were told of are not there any more.</skills>"


def skill_notes(skills: Sequence[SkillShown], told: Mapping[str, str], window: int) -> list[Note]:
    if not skills:
        return [Note(TOPIC, _GONE)] if TOPIC in told else []
    most = max(_SHORTEST, int(window * _SHARE) // len(skills))
    lines = [f"- {each.name}: {_cut(each.description, most)}" for each in skills]
    return [Note(TOPIC, "\n".join(["<skills>", _OFFER, *lines, "</skills>"]))]


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
