"""The initial todo list for a complex prompt: the separate items of the prompt, in the person's own words.

The model is told to replace the list with a better one as soon as it knows more.
"""

import re
from collections.abc import Iterable
from itertools import pairwise

import msgspec

from coderelay.agents.native.native_settings import Language
from coderelay.agents.native.workflow.message_texts import FIRST_LIST, USUAL_STEPS, workflow_message
from coderelay.agents.native.workflow.prompt_complexity import ITEMS, Rule, why_complex
from coderelay.agents.turn import Turn
from coderelay.protocol.calls import Call
from coderelay.protocol.ids import CallId, new_id
from coderelay.protocol.message_content import Note
from coderelay.protocol.query_results import TODO, Item, TodoArguments
from coderelay.session.state import has_open, todos
from coderelay.tools.toolbox import Toolbox
from coderelay.workspace.workspace import Workspace

_MOST_ENUMERATED = 30
_MOST_SENTENCES = 12  # a prompt with more sentences contains pasted text
_CHARS = 200

_PASTED = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_LIST_LINE = re.compile(r"^[ \t]*(?:[-*+•·]|\d{1,3}[.)])[ \t]+(\S.*)$", re.MULTILINE)
_LABEL = re.compile(
    r"(?<![A-Za-z0-9_./(（-])[(（]?(\d{1,2}|[１-９]|[ivx]{1,4}|[A-Za-z]|[一二三四五六七八九十])"
    r"(?:[.．](?![A-Za-z0-9_])|[)）、])"
    "|([①-⑳⑴-⒇⒈-⒛❶-❿➀-➉➊-➓㈠-㈩㊀-㊉])"
    r"|(?<![A-Za-z0-9_./(（-])(\d{1,2}|[１-９])[.．](?=[A-Za-z])"
)
_ROWS: tuple[list[str], ...] = (
    [str(number) for number in range(1, _MOST_ENUMERATED + 1)],
    list("１２３４５６７８９"),
    list("ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    list("abcdefghijklmnopqrstuvwxyz"),
    ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x"],
    list("一二三四五六七八九十"),
    *([chr(ord(first) + place) for place in range(10)] for first in "①⑴⒈❶➀➊㈠㊀"),
)
_SEGMENT_ENDS = re.compile("[，。；、,\n]")
_SENTENCE_ENDS = re.compile(r"[。；;！？!?\n]|\.(?=\s|\Z)")
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_SLASHES = re.compile(r"[/／]")
_EDGES = " \t，。；、,;.:："


async def begin_list(turn: Turn, toolbox: Toolbox, workspace: Workspace, language: Language) -> bool:
    """Set a todo list if the prompt is complex and no list is open. Returns False if nothing was done."""
    if not toolbox.has(TODO) or has_open(todos(turn.state)) or turn.state.turn is None:
        return False
    contents = first_list(turn.state.turn.started.typed_text)
    if not contents:
        return False
    arguments = TodoArguments(tuple(Item(each, "pending") for each in contents))
    call = Call(CallId(f"call_{new_id()}"), TODO, msgspec.json.encode(arguments).decode())
    message = workflow_message(turn.id, calls=(call,), notes=(Note("first-list", FIRST_LIST[language]),))
    await turn.add(message, [toolbox.need(call, workspace)], final=False)
    return True


def first_list(prompt: str) -> list[str]:
    """The items of the list; empty for a simple prompt. If a complex prompt has no separate items, these are the
    usual steps, in the language of the prompt."""
    rule = why_complex(prompt)
    if rule is None:
        return []
    parts = _parts(prompt.strip(), rule)
    return parts if len(parts) > 1 else USUAL_STEPS["zh" if _CHINESE.search(prompt) else "en"]


def _parts(text: str, rule: Rule) -> list[str]:
    own = _PASTED.sub("\n", text)
    parts = _enumerated(own) if rule == "enumeration" else []
    if not parts and rule == "segments":
        parts = _cleaned(_SEGMENT_ENDS.split(own))
    if not parts:
        sentences = _cleaned(_SENTENCE_ENDS.split(own))
        if len(sentences) == 1:
            sentences = _cleaned(sentences[0].split("，"))
        parts = sentences if len(sentences) <= _MOST_SENTENCES else []
    return parts[:_MOST_ENUMERATED]


def _enumerated(text: str) -> list[str]:
    lines = _cleaned(_LIST_LINE.findall(text))
    labelled = _labelled(text)
    parts = lines if len(lines) >= max(ITEMS, len(labelled)) else labelled
    if parts:
        return parts
    words = _cleaned(_SLASHES.split(text))
    return words if len(words) >= ITEMS and not text.isascii() else []


def _labelled(text: str) -> list[str]:
    """The text after each label (`1.`, `a)`, `①`) of the longest row of labels."""
    found = list(_LABEL.finditer(text))
    rows = [places for row in _ROWS if len(places := _places(found, row)) >= ITEMS]
    if not rows:
        return []
    places = max(rows, key=len)
    ends = [*(nxt.start() for _, nxt in pairwise(places)), len(text)]
    return _cleaned(_first_line(text[place.end() : end]) for place, end in zip(places, ends, strict=True))


def _places(found: list[re.Match[str]], row: list[str]) -> list[re.Match[str]]:
    places: list[re.Match[str]] = []
    for each in found:
        if len(places) < len(row) and (each[1] or each[2] or each[3]) == row[len(places)]:
            places.append(each)
    return places


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0]


def _cleaned(parts: Iterable[str]) -> list[str]:
    whole = [re.sub(r"\s+", " ", part).strip(_EDGES) for part in parts]
    return [each if len(each) <= _CHARS else each[: _CHARS - 1] + "…" for each in whole if each]
