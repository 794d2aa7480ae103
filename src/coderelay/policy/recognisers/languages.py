"""Programs whose first operand is a small program: sed, awk, jq."""

import re
from collections.abc import Sequence

from coderelay.policy.recognisers.options import Options, Refused, check
from coderelay.policy.recognisers.paths import Place
from coderelay.policy.shell_words import Word

_SED = Options(
    short="nErsuz",
    texts="e",
    long=("--quiet", "--silent", "--regexp-extended", "--expression=", "--separate", "--unbuffered", "--posix"),
    text_operands=1,
    instead=("-e", "--expression"),
)
_AWK = Options(texts="Fv", text_operands=1)
_JQ = Options(
    short="rcsSenMCaj",
    long=("--raw-output", "--compact-output", "--slurp", "--sort-keys", "--exit-status", "--null-input", "--tab",
          "--raw-input", "--join-output", "--monochrome-output", "--color-output"),
    text_operands=1,
)  # fmt: skip

_ADDRESS = r"(?:\d+|\$|/(?:[^/\\\n]|\\[^\n])+/I?)"
_PART = r"(?:[^{0}\\\n]|\\[^\n])*"
_CHANGES = "|".join(rf"s{d}{_PART.format(d)}{d}{_PART.format(d)}{d}[gpIi0-9]*" for d in ("/", r"\|", ",", "#", ":"))
_COMMAND = rf"\s*(?:{_ADDRESS}(?:,(?:{_ADDRESS}|\+\d+))?)?\s*!?(?:[pdq=]|{_CHANGES})\s*"
_SED_SCRIPT = re.compile(rf"{_COMMAND}(?:;{_COMMAND})*;?\s*")
_AWK_ACTS = re.compile(r"[>|@]|system|getline|ARGV|ARGC|ENVIRON|SYMTAB|PROCINFO|FUNCTAB")
_JQ_ACTS = re.compile(r"env|ENV|import|include|input|debug|stderr|modulemeta|get_search_list")


def recognise_sed(words: Sequence[Word], place: Place) -> None:
    """Printing lines and substituting in the output. `w`, `r`, `e` and -i do more than that."""
    given = _scripts(words)
    operands = check(words, _SED, place)
    for script in (*given, *operands.texts):
        if not _SED_SCRIPT.fullmatch(script):
            raise Refused("this sed script is not known to only print")
    if not given and not operands.texts:
        raise Refused("sed has no script")


def _scripts(words: Sequence[Word]) -> list[str]:
    """Those of -e, which must stand alone to be found."""
    found: list[str] = []
    for at, word in enumerate(words):
        if word.text == "-e" and at + 1 < len(words):
            found.append(words[at + 1].text)
        elif word.text.startswith("--expression="):
            found.append(word.text.partition("=")[2])
        elif (re.match(r"-\w*e", word.text) and word.text != "-e") or word.text == "--expression":
            raise Refused("this sed script is not known to only print")
    return found


def recognise_awk(words: Sequence[Word], place: Place) -> None:
    operands = check(words, _AWK, place)
    if not operands.texts or _AWK_ACTS.search(operands.texts[0]):
        raise Refused("this awk program is not known to only print")
    if any("=" in path for path in operands.paths):
        raise Refused("awk sets a variable between its files")


def recognise_jq(words: Sequence[Word], place: Place) -> None:
    operands = check(words, _JQ, place)
    if not operands.texts or _JQ_ACTS.search(operands.texts[0]):
        raise Refused("this jq program is not known to only read its files")
