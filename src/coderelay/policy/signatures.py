"""What of a command may be remembered: an exact vector, or a prefix of whole words for a program that is known.

The known ones with a prefix run tests and builds, or change the repository in ways that are easy to see.
"""

import re
from collections.abc import Sequence

from msgspec import Struct

from coderelay.policy.recognisers.options import Options, Refused, check
from coderelay.policy.recognisers.paths import Place
from coderelay.policy.recognisers.recogniser import recognise_edit
from coderelay.policy.shell_words import NotLiteral, Script, Word, parse, read_script


class Signature(Struct, frozen=True):
    """`prefix` covers more words too, but only plain ones known to be harmless for that program."""

    words: tuple[str, ...]
    prefix: bool = False


# After these words more may follow: the options listed, and paths beneath the workspace. They run what is
# in the workspace anyway, so only options that reach beyond it are left out.
_PYTEST = Options(
    short="qvxslh",
    texts="kmn",
    long=("--tb=", "--lf", "--ff", "--maxfail=", "--durations=", "--no-header", "--cov=?", "--collect-only",
          "--verbose", "--quiet", "--exitfirst", "--stepwise", "--no-cov", "--color=", "--last-failed",
          "--failed-first", "--timeout="),
)  # fmt: skip
_CARGO = Options(
    short="qv",
    texts="pj",
    long=("--all", "--workspace", "--release", "--lib", "--quiet", "--verbose", "--tests", "--bins", "--all-targets",
          "--all-features", "--no-default-features", "--features=", "--package=", "--no-fail-fast", "--doc", "--bin=",
          "--test=", "--example=", "--locked", "--offline"),
)  # fmt: skip
_RUFF = Options(long=("--fix", "--no-cache", "--quiet", "--diff", "--select=", "--ignore=", "--statistics"))
_GO = Options(single_dash=("-v", "-race", "-short", "-cover", "-failfast"), long=("--run=",))
_NONE = Options(most_operands=0)
BUILDS: dict[tuple[str, ...], Options] = {
    ("pytest",): _PYTEST,
    ("py.test",): _PYTEST,
    **{(python, "-m", "pytest"): _PYTEST for python in ("python", "python3", ".venv/bin/python")},
    (".venv/bin/pytest",): _PYTEST,
    ("uv", "run", "pytest"): _PYTEST,
    **{(python, "-m", "unittest"): Options(short="vqfb", texts="k") for python in ("python", "python3")},
    ("go", "test"): _GO,
    ("go", "build"): _GO,
    ("go", "vet"): Options(),
    **{("cargo", each): _CARGO for each in ("test", "build", "check", "clippy", "bench", "doc")},
    ("cargo", "fmt"): Options(long=("--all", "--check")),
    ("ruff", "check"): _RUFF,
    ("ruff", "format"): Options(long=("--check", "--diff", "--quiet")),
    ("black",): Options(short="q", texts="l", long=("--check", "--diff", "--quiet")),
    ("isort",): Options(long=("--check", "--check-only", "--diff")),
    ("flake8",): Options(long=("--max-line-length=", "--statistics", "--count")),
    ("mypy",): Options(short="p", long=("--strict", "--pretty", "--no-error-summary", "--ignore-missing-imports")),
    ("pyright",): Options(long=("--warnings", "--stats", "--outputjson")),
    ("tsc",): Options(short="pb", long=("--noEmit", "--build", "--pretty", "--watch=")),
    ("eslint",): Options(long=("--fix", "--quiet", "--ext=", "--max-warnings=")),
    ("prettier",): Options(short="wcl", long=("--write", "--check", "--list-different")),
    ("jest",): Options(short="t", long=("--coverage", "--ci", "--runInBand", "--verbose", "--silent")),
    ("vitest", "run"): Options(long=("--coverage",)),
    **{(runner, "test"): _NONE for runner in ("npm", "pnpm", "yarn")},
    **{
        (runner, "run", script): _NONE
        for runner in ("npm", "pnpm", "yarn", "bun")
        for script in ("test", "build", "lint", "check", "typecheck", "type-check", "format", "compile")
    },
    ("bun", "test"): Options(),
    ("deno", "test"): Options(),
    ("make",): Options(short="ksBn", texts="j", files="C", long=("--jobs=", "--keep-going", "--silent", "--dry-run")),
    ("ctest",): Options(short="VQ", texts="jR", long=("--output-on-failure", "--verbose")),
    ("cmake", "--build"): Options(texts="j", long=("--target=", "--config=", "--parallel=?")),
    ("ninja",): Options(short="v", texts="j", files="C"),
    ("mvn", "test"): Options(short="qoB", most_operands=0),
    ("mvn", "compile"): Options(short="qoB", most_operands=0),
    ("gradle", "test"): Options(long=("--offline", "--info", "--quiet"), most_operands=0),
    ("gradle", "build"): Options(long=("--offline", "--info", "--quiet"), most_operands=0),
    ("dotnet", "test"): Options(long=("--no-restore", "--no-build", "--nologo")),
    ("dotnet", "build"): Options(long=("--no-restore", "--nologo")),
    ("swift", "test"): _NONE,
    ("swift", "build"): _NONE,
    ("mix", "test"): Options(),
    ("rspec",): Options(),
    ("bundle", "exec", "rspec"): Options(),
    ("phpunit",): Options(),
    ("tox",): Options(short="qv", texts="e", most_operands=0),
    ("nox",): Options(texts="s", most_operands=0),
}  # fmt: skip
_CHANGES: dict[tuple[str, ...], Options] = {
    ("git", "add"): Options(short="AuvN", long=("--all", "--update", "--verbose")),
    ("git", "commit"): Options(short="aqv", texts="m", long=("--all", "--message=", "--quiet"), most_operands=0),
    ("mkdir",): Options(short="pv"),
    ("touch",): Options(),
}
_PREFIXES = {**BUILDS, **_CHANGES}
_LONGEST = max(map(len, _PREFIXES))
_MAKES_FILES = {("mkdir",), ("touch",)}
# Behind `--`, for the tests that cargo builds.
_OF_TESTS = {"--nocapture", "--show-output", "--ignored", "--include-ignored", "--exact", "--test-threads=1"}
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*:(?![:\d])\S+", re.IGNORECASE)


def is_build(words: tuple[Word, ...], place: Place) -> bool:
    """Does this vector run tests or a build, and nothing beside?"""
    return _prefix_of(words, place, BUILDS) is not None


def signature_of(script: Script) -> Signature | None:
    """The shortest rule that is safe to remember, or nothing if only the very text is."""
    words = _only_vector(script)
    if words is None:
        return None
    prefix = _prefix_of(words, Place(), _PREFIXES)
    return Signature(prefix, prefix=True) if prefix else Signature(tuple(word.text for word in words))


def covers_command(signature: Signature, command: str, folders: tuple[str, ...] = ()) -> bool:
    """Is this command one that was approved? Never with redirections, assignments or unknown options."""
    try:
        words = _only_vector(read_script(command, parse(command)))
    except NotLiteral:
        return False
    if words is None:
        return False
    if not signature.prefix:
        return tuple(word.text for word in words) == signature.words
    return _prefix_of(words, Place(folders), _PREFIXES) == signature.words


def _only_vector(script: Script) -> tuple[Word, ...] | None:
    if len(script.commands) != 1 or script.redirections or script.commands[0].assignments:
        return None
    words = script.commands[0].words
    return None if any(word.glob for word in words) else words


def _prefix_of(
    words: tuple[Word, ...], place: Place, known: dict[tuple[str, ...], Options]
) -> tuple[str, ...] | None:
    """The first words of a vector, if all that follow are harmless."""
    for length in range(1, min(_LONGEST, len(words)) + 1):
        prefix = tuple(word.text for word in words[:length])
        if prefix not in known:
            continue
        try:
            _check_words([word.text for word in words[length:]], prefix)
            check(words[length:], known[prefix], place)
            if prefix in _MAKES_FILES:
                recognise_edit(words, place)
        except Refused:
            continue
        return prefix
    return None


def _check_words(words: Sequence[str], prefix: tuple[str, ...]) -> None:
    """Words that a program takes for more than the name of a file or a target."""
    for word in words:
        if word.startswith("@") or _ADDRESS.fullmatch(word):
            raise Refused(f"{word} may bring options or a program from elsewhere")
        if prefix == ("make",) and "=" in word and not word.startswith("-"):
            raise Refused(f"{word} changes what make runs")
    behind = words[words.index("--") + 1 :] if "--" in words else ()
    known = _OF_TESTS if prefix[0] == "cargo" else set[str]()
    if any(word.startswith("-") and word not in known for word in behind):
        raise Refused("not every program ends its options at --")
