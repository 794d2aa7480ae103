"""Programs that run tests and builds, or change the repository in ways that are easy to see.

For each one: which options are known at all, which of them change what is run or written (`kept`), and what its
operands are. Tests and builds run what is in the workspace anyway, so options that reach beyond it are not listed.
"""

from typing import Literal

from msgspec import Struct

from coderelay.policy.recognisers.options import Options


class Build(Struct, frozen=True):
    """`kept` are options that a remembered command keeps, because with them or without them the program runs or
    writes something else: `--fix`, but also `--check`. Operands are `files` of the workspace, any of which may
    stand there, or `targets`, each of which does something of its own and is kept too."""

    options: Options = Options()
    kept: tuple[str, ...] = ()
    operands: Literal["files", "targets"] = "files"


_PYTEST = Build(
    Options(
        short="qvxslh",
        texts="kmn",
        long=("--tb=", "--lf", "--ff", "--maxfail=", "--durations=", "--no-header", "--cov=?", "--collect-only",
              "--verbose", "--quiet", "--exitfirst", "--stepwise", "--no-cov", "--color=", "--last-failed",
              "--failed-first", "--timeout="),
    )
)  # fmt: skip
_CARGO = Build(
    Options(
        short="qv",
        texts="pj",
        long=("--all", "--workspace", "--release", "--lib", "--quiet", "--verbose", "--tests", "--bins",
              "--all-targets", "--all-features", "--no-default-features", "--features=", "--package=",
              "--no-fail-fast", "--doc", "--bin=", "--test=", "--example=", "--locked", "--offline"),
        ),
    kept=("--locked", "--offline"),
)  # fmt: skip
_GO = Build(Options(single_dash=("-v", "-race", "-short", "-cover", "-failfast"), long=("--run=",)))
_UNITTEST = Build(Options(short="vqfb", texts="k"))
_NONE = Build(Options(most_operands=0))
_MAVEN = Build(Options(short="qoB", most_operands=0), kept=("-o",))
_GRADLE = Build(Options(long=("--offline", "--info", "--quiet"), most_operands=0), kept=("--offline",))

BUILDS: dict[tuple[str, ...], Build] = {
    ("pytest",): _PYTEST,
    ("py.test",): _PYTEST,
    **{(python, "-m", "pytest"): _PYTEST for python in ("python", "python3", ".venv/bin/python")},
    (".venv/bin/pytest",): _PYTEST,
    ("uv", "run", "pytest"): _PYTEST,
    **{(python, "-m", "unittest"): _UNITTEST for python in ("python", "python3")},
    ("go", "test"): _GO,
    ("go", "build"): _GO,
    ("go", "vet"): Build(),
    **{("cargo", each): _CARGO for each in ("test", "build", "check", "clippy", "bench", "doc")},
    ("cargo", "fmt"): Build(Options(long=("--all", "--check")), kept=("--check",)),
    ("ruff", "check"): Build(
        Options(long=("--fix", "--no-cache", "--quiet", "--diff", "--select=", "--ignore=", "--statistics")),
        kept=("--fix", "--diff"),
    ),
    ("ruff", "format"): Build(Options(long=("--check", "--diff", "--quiet")), kept=("--check", "--diff")),
    ("black",): Build(
        Options(short="q", texts="l", long=("--check", "--diff", "--quiet")), kept=("--check", "--diff")
    ),
    ("isort",): Build(
        Options(long=("--check", "--check-only", "--diff")), kept=("--check", "--check-only", "--diff")
    ),
    ("flake8",): Build(Options(long=("--max-line-length=", "--statistics", "--count"))),
    ("mypy",): Build(
        Options(short="p", long=("--strict", "--pretty", "--no-error-summary", "--ignore-missing-imports"))
    ),
    ("pyright",): Build(Options(long=("--warnings", "--stats", "--outputjson"))),
    ("tsc",): Build(
        Options(short="b", files="p", long=("--noEmit", "--build", "--pretty", "--watch=")),
        kept=("-b", "-p", "--noEmit", "--build", "--watch"),
    ),
    ("eslint",): Build(Options(long=("--fix", "--quiet", "--ext=", "--max-warnings=")), kept=("--fix",)),
    ("prettier",): Build(
        Options(short="wcl", long=("--write", "--check", "--list-different")),
        kept=("-w", "-c", "-l", "--write", "--check", "--list-different"),
    ),
    ("jest",): Build(
        Options(short="t", long=("--coverage", "--ci", "--runInBand", "--verbose", "--silent")), kept=("--ci",)
    ),
    ("vitest", "run"): Build(Options(long=("--coverage",))),
    **{(runner, "test"): _NONE for runner in ("npm", "pnpm", "yarn")},
    **{
        (runner, "run", script): _NONE
        for runner in ("npm", "pnpm", "yarn", "bun")
        for script in ("test", "build", "lint", "check", "typecheck", "type-check", "format", "compile")
    },
    ("bun", "test"): Build(),
    ("deno", "test"): Build(),
    ("make",): Build(
        Options(short="ksBn", texts="j", files="C", long=("--jobs=", "--keep-going", "--silent", "--dry-run")),
        kept=("-n", "-C", "--dry-run"),
        operands="targets",
    ),
    ("ctest",): Build(
        Options(short="VQ", texts="jR", long=("--output-on-failure", "--verbose"), most_operands=0),
        operands="targets",
    ),
    ("cmake", "--build"): Build(
        Options(texts="j", long=("--target=", "--config=", "--parallel=?")),
        kept=("--target", "--config"),
        operands="targets",
    ),
    ("ninja",): Build(Options(short="v", texts="j", files="C"), kept=("-C",), operands="targets"),
    ("mvn", "test"): _MAVEN,
    ("mvn", "compile"): _MAVEN,
    ("gradle", "test"): _GRADLE,
    ("gradle", "build"): _GRADLE,
    ("dotnet", "test"): Build(
        Options(long=("--no-restore", "--no-build", "--nologo")),
        kept=("--no-restore", "--no-build"),
        operands="targets",
    ),
    ("dotnet", "build"): Build(
        Options(long=("--no-restore", "--nologo")), kept=("--no-restore",), operands="targets"
    ),
    ("swift", "test"): _NONE,
    ("swift", "build"): _NONE,
    ("mix", "test"): Build(),
    ("rspec",): Build(),
    ("bundle", "exec", "rspec"): Build(),
    ("phpunit",): Build(),
    ("tox",): Build(Options(short="qv", texts="e", most_operands=0), kept=("-e",)),
    ("nox",): Build(Options(texts="s", most_operands=0), kept=("-s",)),
}  # fmt: skip
CHANGES: dict[tuple[str, ...], Build] = {
    ("git", "add"): Build(Options(short="AuvN", long=("--all", "--update", "--verbose"))),
    ("git", "commit"): Build(
        Options(short="aqv", texts="m", long=("--all", "--message=", "--quiet"), most_operands=0),
        kept=("-a", "--all"),
    ),
    ("mkdir",): Build(Options(short="pv")),
    ("touch",): Build(),
}
KNOWN = {**BUILDS, **CHANGES}
_LONGEST = max(map(len, KNOWN))


def known_build(words: tuple[str, ...]) -> tuple[str, ...] | None:
    """The first words that name a program of the table, the most of them that do."""
    lengths = range(min(_LONGEST, len(words)), 0, -1)
    return next((words[:length] for length in lengths if words[:length] in KNOWN), None)
