"""What a person may say once and for all about commands: an exact vector, or a prefix of whole words."""

import re
from collections.abc import Iterable, Sequence

from msgspec import Struct

from coderelay.policy.recognisers.options import Options, Refused, check
from coderelay.policy.recognisers.paths import Place
from coderelay.policy.shell_words import NotLiteral, Script, Word, parse, read_script


class Signature(Struct, frozen=True):
    """`prefix` covers more words too, but only plain ones known to be harmless for that program."""

    words: tuple[str, ...]
    prefix: bool = False


class CommandRules(Struct, frozen=True):
    """Rules of the person's own, as words a command begins with; no words mean every command."""

    allow: tuple[tuple[str, ...], ...] = ()
    ask: tuple[tuple[str, ...], ...] = ()
    deny: tuple[tuple[str, ...], ...] = ()


NO_RULES = CommandRules()
_WRITTEN = re.compile(r"bash(?:\(\s*(.*?)\s*\))?", re.IGNORECASE | re.DOTALL)
# After these words more may follow: the options listed, and paths beneath the workspace. They run what is
# in the workspace anyway, so only options that reach beyond it are left out.
_PREFIXES: dict[tuple[str, ...], Options] = {
    ("pytest",): Options(
        short="qvxslh", texts="km", long=("--tb=", "--lf", "--ff", "--maxfail=", "--durations=", "--no-header",
                                          "--collect-only", "--verbose", "--quiet", "--exitfirst", "--stepwise")
    ),
    ("go", "test"): Options(single_dash=("-v", "-race", "-short", "-cover")),
    ("go", "build"): Options(single_dash=("-v", "-race")),
    ("go", "vet"): Options(),
    ("cargo", "test"): Options(short="q", long=("--all", "--workspace", "--release", "--lib", "--quiet")),
    ("cargo", "build"): Options(short="q", long=("--all", "--workspace", "--release", "--quiet")),
    ("cargo", "check"): Options(short="q", long=("--all", "--workspace", "--all-targets", "--quiet")),
    ("cargo", "clippy"): Options(short="q", long=("--all", "--workspace", "--all-targets", "--quiet")),
    ("ruff", "check"): Options(long=("--fix", "--no-cache", "--quiet")),
    ("ruff", "format"): Options(long=("--check", "--diff", "--quiet")),
    ("git", "add"): Options(short="AuvN", long=("--all", "--update", "--verbose")),
    ("git", "commit"): Options(short="aqv", texts="m", long=("--all", "--message=", "--quiet"), most_operands=0),
    ("npm", "test"): Options(most_operands=0),
    ("make",): Options(short="ksB", texts="j"),
    ("mkdir",): Options(short="pv"),
    ("touch",): Options(),
}  # fmt: skip


def read_rules(allow: Iterable[str], ask: Iterable[str], deny: Iterable[str]) -> CommandRules:
    """Those about commands among rules as people write them: `bash`, `bash(git push)`, `bash(npm run *)`."""
    return CommandRules(*(tuple(_read_all(texts)) for texts in (allow, ask, deny)))


def _read_all(texts: Iterable[str]) -> Iterable[tuple[str, ...]]:
    for text in texts:
        if written := _WRITTEN.fullmatch(text.strip()):
            words = re.sub(r"(:|\s+|^)\*$", "", written.group(1) or "").split()
            yield tuple(words)


def begins_with(words: Sequence[str], rule: tuple[str, ...]) -> bool:
    return tuple(words[: len(rule)]) == rule


def signature_of(script: Script) -> Signature | None:
    """The shortest rule that is safe to remember, or nothing if only the very text is."""
    if len(script.commands) != 1 or script.redirections or script.commands[0].assignments:
        return None
    words = script.commands[0].words
    if any(word.glob for word in words):
        return None
    texts = tuple(word.text for word in words)
    for length in (1, 2):
        if texts[:length] in _PREFIXES and _continues(words, length, Place()):
            return Signature(texts[:length], prefix=True)
    return Signature(texts)


def covers_command(signature: Signature, command: str, folders: tuple[str, ...] = ()) -> bool:
    """Is this command one that was approved? Never with redirections, assignments or unknown options."""
    tree = parse(command)
    try:
        script = read_script(command, tree)
    except NotLiteral:
        return False
    if len(script.commands) != 1 or script.redirections or script.commands[0].assignments:
        return False
    words = script.commands[0].words
    if any(word.glob for word in words):
        return False
    texts = tuple(word.text for word in words)
    if not signature.prefix:
        return texts == signature.words
    length = len(signature.words)
    return texts[:length] == signature.words and _continues(words, length, Place(folders))


def _continues(words: tuple[Word, ...], length: int, place: Place) -> bool:
    known = _PREFIXES.get(tuple(word.text for word in words[:length]))
    if known is None:
        return False
    try:
        check(words[length:], known, place)
    except Refused:
        return False
    return True
