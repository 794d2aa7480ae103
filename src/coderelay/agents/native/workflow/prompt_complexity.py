"""Decides whether a prompt is a task of many steps, and by which rule.

The first rule that matches is the answer:

1. enumeration  three separate items: `1. 2. 3.`, `A/B/C`, `①②③`, three lines of a list
2. length       40 characters (code points: a letter with a combining accent counts as two)
3. keywords     3 different ones; a keyword and its translation are the same
4. segments     3, between the punctuation marks of `_SEGMENT_ENDS`
"""

import re
from itertools import islice
from typing import Literal

Rule = Literal["enumeration", "length", "keywords", "segments"]

LENGTH = 40
KEYWORDS = 3
SEGMENTS = 3
ITEMS = 3

_SEGMENT_ENDS = re.compile("[，。；、,\n]")

# Each line is one keyword, in Chinese and in English.
_KEYWORDS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"并且|\band also\b|\bas well as\b|\bmoreover\b",
        r"同时|\bat the same time\b|\bmeanwhile\b|\bsimultaneously\b",
        r"另外|\bin addition\b|\badditionally\b|\bfurthermore\b",
        r"分别|\brespectively\b|\bseparately\b",
        r"步骤|\bsteps?\b",
        r"重构|\brefactor(?:s|ed|ing|ings)?\b",
        r"迁移|\bmigrat(?:e|es|ed|ing|ion|ions)\b",
        r"优化|\boptimi[sz](?:e|es|ed|ing|ation|ations)\b",
    )
)

_ROWS = ("1 2 3", "１ ２ ３", "A B C", "a b c", "i ii iii", "一 二 三")
_SIGN_ROWS = ("① ② ③", "⑴ ⑵ ⑶", "⒈ ⒉ ⒊", "❶ ❷ ❸", "➀ ➁ ➂", "➊ ➋ ➌", "㈠ ㈡ ㈢", "㊀ ㊁ ㊂")
_PLACES: dict[str, tuple[str, int]] = {
    label: (row, place) for row in (*_ROWS, *_SIGN_ROWS) for place, label in enumerate(row.split())
}
# A label is followed by a mark. The characters around it distinguish it from a version (v1.2), a file (1.txt) or a
# function call (f(1)). A word may follow the mark of a number directly (`1.fix 2.add 3.test`), but not the same word
# each time.
_LABEL = re.compile(
    r"(?<![A-Za-z0-9_./(（-])[(（]?(iii?|[1-3１-３A-Ca-ci一二三])(?:[.．](?![A-Za-z0-9_])|[)）、])"
    "|([①-③⑴-⑶⒈-⒊❶-❸➀-➂➊-➌㈠-㈢㊀-㊂])"
    r"|(?<![A-Za-z0-9_./(（-])([1-3１-３])[.．]([A-Za-z]++)(?![A-Za-z0-9_./-])"
)

# Letters or Chinese words between slashes. Other words between slashes are more often a path.
_LETTERS = (
    r"(?<![A-Za-z0-9_./~-])(?:A ?[/／] ?B ?[/／] ?C(?:[/／][A-Z])*+|Ａ ?[/／] ?Ｂ ?[/／] ?Ｃ(?:[/／][Ａ-Ｚ])*+)"
)
_WORD = r"[^\W\dA-Za-z_]{2,}+"  # [㐀-鿿] would take milliseconds to compile
_WORDS = rf"(?<![^\W\dA-Za-z_])(?<![/／.~\\-]){_WORD}(?:[/／]{_WORD}){{2,}}+"
_SLASHES = re.compile(rf"(?:{_LETTERS}|{_WORDS})(?![A-Za-z0-9_/／-]|\.[A-Za-z0-9_])")
_LIST_LINE = re.compile(r"^[ \t]*(?:[-*+•·]|\d{1,3}[.)])[ \t]+\S", re.MULTILINE)


def why_complex(prompt: str) -> Rule | None:
    """The rule that makes a prompt complex, or None for a simple prompt."""
    text = prompt.strip()
    if _enumerates(text):
        return "enumeration"
    if len(text) >= LENGTH:
        return "length"
    if sum(1 for keyword in _KEYWORDS if keyword.search(text)) >= KEYWORDS:
        return "keywords"
    if sum(1 for segment in _SEGMENT_ENDS.split(text) if segment.strip()) >= SEGMENTS:
        return "segments"
    return None


def _enumerates(text: str) -> bool:
    if _SLASHES.search(text) or _counts_up(text):
        return True
    return sum(1 for _ in islice(_LIST_LINE.finditer(text), ITEMS)) == ITEMS


def _counts_up(text: str) -> bool:
    reached: dict[str, int] = dict.fromkeys((*_ROWS, *_SIGN_ROWS), 0)
    words: set[str] = set()
    for found in _LABEL.finditer(text):
        row, place = _PLACES[found[1] or found[2] or found[3]]
        if place == reached[row] and found[4] not in words:
            reached[row] += 1
            words |= {found[4]} if found[4] else set()
    return ITEMS in reached.values()
