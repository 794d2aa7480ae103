"""Read-only checks for sed, awk and jq, whose first operand is a small program of its own."""

import re
from collections.abc import Iterator, Sequence

from coderelay.policy.shell.programs.command_folders_and_not_read_only import CommandFolders, NotReadOnly
from coderelay.policy.shell.programs.harmless_option_check import Options, check
from coderelay.policy.shell.programs.program_spec import Program
from coderelay.policy.shell.strict_bash_parser import Word

_SED = Options(
    short="nErsuz",
    texts="e",
    long=("--quiet", "--silent", "--regexp-extended", "--expression=", "--separate", "--unbuffered", "--posix"),
    text_operands=1,
    instead=("-e", "--expression"),
)
_AWK = Options(texts="Fv", text_operands=1, operands_last=True)
_JQ = Options(
    short="rcsSenMCaj",
    long=("--raw-output", "--compact-output", "--slurp", "--sort-keys", "--exit-status", "--null-input", "--tab",
          "--raw-input", "--join-output", "--monochrome-output", "--color-output", "--stream", "--indent="),
    text_operands=1,
)  # fmt: skip


def _within(end: str) -> str:
    """Matches a regular expression in a sed script up to its delimiter `end`. Versions of sed disagree whether a
    delimiter between brackets ends it, so none may be there."""
    in_brackets = rf"(?:\[:[a-z]+:\]|\\[^\n\]{end}]|[^\[\]\\\n{end}])*"
    return rf"(?:\[\^?\]?{in_brackets}\]|\\[^\n]|[^\[\\\n{end}])*"


_ADDRESS = rf"(?:\d+(?:~\d+)?|\$|/{_within('/')}/I?)"
_CHANGES = "|".join(
    rf"s{mark}{_within(mark)}{mark}(?:\\[^\n]|[^\\\n{mark}])*{mark}[gpIi0-9]*" for mark in map(re.escape, "/|,#:@_%!")
)
_ONE = rf"[ \t]*+(?:{_ADDRESS}(?:,(?:{_ADDRESS}|\+\d+))?)?[ \t]*+!?"
_COMMAND = rf"{_ONE}(?:[pdqPDNnhHgGx=]|[bt][ \t]*+[A-Za-z0-9]*|{_CHANGES})[ \t]*+"
_BLOCK = rf"(?:{_ONE}\{{{_COMMAND}(?:;{_COMMAND})*;?[ \t]*+\}}[ \t]*+|[ \t]*+:[A-Za-z0-9]+[ \t]*+|{_COMMAND})"
_SED_SCRIPT = re.compile(rf"{_BLOCK}(?:;{_BLOCK})*;?[ \t]*+")
_LONGEST = 2000  # a limit on the time that matching takes
_AWK_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|>=|\|\||[^"/#\\]')
_AWK_ACTS = re.compile(r"[>|@]|system|getline|ARGV|ARGC|ENVIRON|SYMTAB|PROCINFO|FUNCTAB")
_JQ_ACTS = re.compile(r"\b(?:env|ENV|import|include|modulemeta|get_search_list)\b")


def recognise_sed(words: Sequence[Word], folders: CommandFolders) -> None:
    """Accepts scripts that print lines and substitute in the output. Only `w`, `r`, `e` and -i do more than that, so
    a script without these letters is harmless however it is parsed."""
    given = _scripts(words)
    operands = check(words, _SED, folders)
    scripts = (*given, *operands.texts)
    if not scripts:
        raise NotReadOnly("sed has no script")
    if set("wWrRe") & set("".join(scripts)) and not all(map(_only_prints, scripts)):
        raise NotReadOnly("this sed script may change things")


def _only_prints(script: str) -> bool:
    return len(script) <= _LONGEST and _SED_SCRIPT.fullmatch(script) is not None


def _scripts(words: Sequence[Word]) -> list[str]:
    """The scripts given as `-e SCRIPT` or `--expression=SCRIPT`; other spellings are refused."""
    found: list[str] = []
    for at, word in enumerate(words):
        if word.text == "-e" and at + 1 < len(words):
            found.append(words[at + 1].text)
        elif word.text.startswith("--expression="):
            found.append(word.text.partition("=")[2])
        elif (re.match(r"-\w*e", word.text) and word.text != "-e") or word.text == "--expression":
            raise NotReadOnly("this sed script may change things")
    return found


def recognise_awk(words: Sequence[Word], folders: CommandFolders) -> None:
    operands = check(words, _AWK, folders)
    if not operands.texts or _AWK_ACTS.search("".join(_without_comparisons(operands.texts[0]))):
        raise NotReadOnly("this awk program may change things")


def _without_comparisons(program: str) -> Iterator[str]:
    """The text of an awk program without `>=`, `||` and each `>` that compares: between parentheses, or outside of
    braces, where no `print` can be. Regular expressions and comments cannot be told apart from the rest, so nothing
    is left out behind the first of them, nor behind what cannot be an awk program."""
    parentheses = braces = at = 0
    while token := _AWK_TOKEN.match(program, at):
        text = token.group()
        parentheses += (text == "(") - (text == ")")
        braces += (text == "{") - (text == "}")
        if parentheses < 0 or braces < 0 or (parentheses and text in "{}"):
            break
        at = token.end()
        if text not in (">=", "||") and not (text == ">" and (parentheses or not braces)):
            yield text
    yield program[at:]


def recognise_jq(words: Sequence[Word], folders: CommandFolders) -> None:
    operands = check(_without_variables(words), _JQ, folders)
    if not operands.texts or _JQ_ACTS.search(operands.texts[0]):
        raise NotReadOnly("this jq program may read other files")


def _without_variables(words: Sequence[Word]) -> list[Word]:
    """The words without `--arg name value` and `--argjson name value`, the only options with two values. The words
    are read in order, as jq does: behind `--` and as the value of another option, `--arg` is no option."""
    rest = list(words)
    kept: list[Word] = []
    while rest:
        word = rest.pop(0)
        if word.text == "--":
            return [*kept, word, *rest]
        if word.text == "--indent":
            kept += [word, *rest[:1]]
            del rest[:1]
        elif word.text in ("--arg", "--argjson") and len(rest) >= 2 and not (rest[0].glob or rest[1].glob):
            del rest[:2]
        else:
            kept.append(word)
    return kept


LANGUAGES: dict[str, Program] = {
    "sed": Program(recognise=recognise_sed),
    **dict.fromkeys(("awk", "gawk"), Program(recognise=recognise_awk)),
    "jq": Program(recognise=recognise_jq, version=("--version",)),
}
