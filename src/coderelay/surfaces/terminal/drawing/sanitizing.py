"""Removes escape sequences from untrusted text: none of it may move the terminal's cursor or hide text."""

import re

from coderelay.protocol.text_escaping_and_width import visible
from coderelay.surfaces.terminal.drawing.ansi_styles import paint

_SEQUENCE = re.compile(
    r"""\x1b(?:
      \[(?P<numbers>[0-9:;<=>?]*)[\ -/]*(?P<final>[@-~])  # CSI: colours, cursor
    | \][^\x07\x1b\n]*(?:\x07|\x1b\\)?                  # OSC: titles, links, clipboard
    | [PX^_][^\x1b\n]*(?:\x1b\\)?                        # DCS, SOS, PM, APC
    | [\ -/]*[0-~]                                       # all the short ones
    )?""",
    re.VERBOSE,
)
_COLOURS = {*range(30, 38), *range(90, 98)}
_PICTURE = "\U0001f000-\U0001faff\u2190-\u21ff\u2600-\u27bf\u2b00-\u2bff"
_JOINED = re.compile(rf"\u200d[{_PICTURE}]")
_KEYCAP = re.compile(r"([0-9#*])\ufe0f?\u20e3")
_TONE_OR_VARIANT = re.compile("[\U0001f3fb-\U0001f3ff\ufe0e\ufe0f]")
_FLAG_LETTER = re.compile("[\U0001f1e6-\U0001f1ff]")


def printable(text: str, *, keep_colours: bool = False) -> str:
    """Text without escape sequences. Of a line overwritten with carriage returns or backspaces, the final state
    remains. With `keep_colours`, bold and the sixteen basic colours are kept, and set and reset in each line."""
    if text.isprintable():
        return text
    if "\r" in text or "\b" in text:
        text = "\n".join(map(_final, text.split("\n")))
    return _coloured(text) if keep_colours else visible(_SEQUENCE.sub("", text))


def _final(line: str) -> str:
    """What a line shows after its carriage returns and backspaces."""
    parts = [part for part in line.split("\r") if _SEQUENCE.sub("", part).strip(" ")]
    last = parts[-1] if parts else ""
    return _apply_backspaces(last) if "\b" in last else last


def _apply_backspaces(line: str) -> str:
    kept: list[str] = []
    for character in line:
        if character != "\b":
            kept.append(character)
        elif kept:
            kept.pop()
    return "".join(kept)


def _coloured(text: str) -> str:
    colours: list[int] = []
    lines: list[str] = []
    for line in text.split("\n"):
        shown: list[str] = []
        at = 0
        for found in _SEQUENCE.finditer(line):
            shown.append(_in_colours(line[at : found.start()], colours))
            at = found.end()
            if found["final"] == "m":
                colours = _colours_after(colours, found["numbers"])
        lines.append("".join([*shown, _in_colours(line[at:], colours)]))
    return "\n".join(lines)


def _in_colours(text: str, colours: list[int]) -> str:
    return paint(visible(text), ";".join(map(str, colours)))


def _colours_after(in_force: list[int], numbers: str) -> list[int]:
    """The colours in force after an SGR sequence. 256-colour, true-colour and background codes are dropped: only the
    terminal's own palette is known to be readable."""
    given = iter(int(each) if each.isdecimal() and len(each) < 4 else -1 for each in (numbers or "0").split(";"))
    colours = in_force
    for number in given:
        if number in (38, 48, 58):
            for _ in range({5: 1, 2: 3}.get(next(given, 0), 0)):
                next(given, 0)
        elif number == 0:
            colours = []
        elif number == 39:
            colours = [each for each in colours if each == 1]
        elif number == 22:
            colours = [each for each in colours if each != 1]
        elif number == 1:
            colours = [1, *(each for each in colours if each != 1)]
        elif number in _COLOURS:
            colours = [*(each for each in colours if each == 1), number]
    return colours


def without_wide_joins(text: str) -> str:
    """Simplify emoji sequences whose width is not counted reliably, for text in the live region: only the first part
    of a joined emoji remains, the letters of a flag, the key of a keycap."""
    if text.isascii():
        return text
    text = _TONE_OR_VARIANT.sub("", _KEYCAP.sub(r"\1", text))
    return _FLAG_LETTER.sub(_letter, _JOINED.sub("", text))


def _letter(found: re.Match[str]) -> str:
    return chr(ord(found[0]) - 0x1F1E6 + ord("A"))
