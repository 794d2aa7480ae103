"""The table of build tools, test runners, linters and package managers.

Tests and builds run what is in the workspace anyway; options that reach beyond it are not listed. cargo, rustc, go,
yarn and pnpm have no `version` entry, because they start what the folder asks for even to print their version.
"""

from collections.abc import Mapping, Sequence
from typing import Literal

from coderelay.policy.shell.programs.command_folders_and_not_read_only import CommandFolders, NotReadOnly
from coderelay.policy.shell.programs.harmless_option_check import Options, check
from coderelay.policy.shell.programs.program_spec import EVERY_USE, Build, Program
from coderelay.policy.shell.strict_bash_parser import Word

_INSTALL = frozenset(
    ("install", "i", "add", "ci", "update", "upgrade", "up", "outdated", "audit", "publish", "view", "info")
)
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
    signature_options=("--locked", "--offline"),
)  # fmt: skip
_GO = Build(Options(single_dash=("-v", "-race", "-short", "-cover", "-failfast"), long=("--run=",)))
_UNITTEST = Build(Options(short="vqfb", texts="k"))
_ALONE = Build(Options(most_operands=0))
_MAVEN = Build(Options(short="qoB", most_operands=0), signature_options=("-o",))
_GRADLE = Build(Options(long=("--offline", "--info", "--quiet"), most_operands=0), signature_options=("--offline",))
_MAKE = Build(
    Options(short="ksBn", texts="j", files="C", long=("--jobs=", "--keep-going", "--silent", "--dry-run")),
    signature_options=("-n", "-C", "--dry-run"),
    operands="targets",
)
_SCRIPTS = {
    ("run", script): _ALONE
    for script in ("test", "build", "lint", "check", "typecheck", "type-check", "format", "compile")
}
_TEST_OR_SCRIPT: Mapping[tuple[str, ...], Build] = {("test",): _ALONE, **_SCRIPTS}
_PYTHON = Program(
    interprets="code",
    modules=("pip",),
    version=("--version", "-V"),
    builds={("-m", "pytest"): _PYTEST, ("-m", "unittest"): _UNITTEST},
)
_NODE_RUN = ("exec", "x", "dlx")

PIP: dict[str, Options] = {
    "list": Options(long=("--format=", "--not-required", "--local", "--user"), most_operands=0),
    "show": Options(short="f", long=("--files",), text_operands=99),
    "check": Options(most_operands=0),
}


def recognise_pip(words: Sequence[Word], folders: CommandFolders) -> None:
    if not words or words[0].text not in PIP:
        raise NotReadOnly("pip is only known to be harmless when it lists, shows or checks")
    check(words[1:], PIP[words[0].text], folders)


_PIP = Program(
    recognise=recognise_pip,
    version=("--version", "-V"),
    network=frozenset(("install", "download", "index", "wheel")),
)


def _only(options: Options, *kept: str, operands: Literal["files", "targets"] = "files") -> Program:
    """A program each use of which is a build, as long as it is given only these options."""
    return Program(builds={(): Build(options, kept, operands)})


BUILD_TOOLS: dict[str, Program] = {
    # Python
    **dict.fromkeys(("python", "python3"), _PYTHON),
    ".venv/bin/python": Program(builds={("-m", "pytest"): _PYTEST}),
    **dict.fromkeys(("pytest", "py.test", ".venv/bin/pytest"), Program(builds={(): _PYTEST})),
    **dict.fromkeys(("pip", "pip3"), _PIP),
    **dict.fromkeys(("pipx", "uvx"), Program(network=EVERY_USE)),
    "uv": Program(
        version=("--version",), builds={("run", "pytest"): _PYTEST}, command_after=("run",),
        network=frozenset(("pip", "sync", "add", "lock", "tool")),
    ),
    "poetry": Program(command_after=("run",), network=_INSTALL | {"lock"}),
    "conda": Program(command_after=("run",), network=_INSTALL | {"create"}),
    **dict.fromkeys(("pipenv", "pdm", "hatch", "rye", "pixi", "mamba"), Program(command_after=("run",))),
    "twine": Program(network=frozenset(("upload",)), publishes="upload"),
    "ruff": Program(
        builds={
            ("check",): Build(
                Options(long=("--fix", "--no-cache", "--quiet", "--diff", "--select=", "--ignore=", "--statistics")),
                signature_options=("--fix", "--diff"),
            ),
            ("format",): Build(
                Options(long=("--check", "--diff", "--quiet")), signature_options=("--check", "--diff")
            ),
        }
    ),
    "black": _only(Options(short="q", texts="l", long=("--check", "--diff", "--quiet")), "--check", "--diff"),
    "isort": _only(Options(long=("--check", "--check-only", "--diff")), "--check", "--check-only", "--diff"),
    "flake8": _only(Options(long=("--max-line-length=", "--statistics", "--count"))),
    "mypy": _only(
        Options(short="p", long=("--strict", "--pretty", "--no-error-summary", "--ignore-missing-imports"))
    ),
    "pyright": _only(Options(long=("--warnings", "--stats", "--outputjson"))),
    "tox": _only(Options(short="qv", texts="e", most_operands=0), "-e"),
    "nox": _only(Options(texts="s", most_operands=0), "-s"),
    # JavaScript
    "node": Program(interprets="code", version=("--version", "-v")),
    "npm": Program(
        version=("--version", "-v"), builds=_TEST_OR_SCRIPT, command_after=_NODE_RUN, publishes="publish",
        network=_INSTALL,
    ),
    "pnpm": Program(builds=_TEST_OR_SCRIPT, command_after=_NODE_RUN, publishes="publish", network=_INSTALL),
    "yarn": Program(
        builds=_TEST_OR_SCRIPT, command_after=_NODE_RUN, publishes="publish", network=_INSTALL, network_alone=True
    ),
    "bun": Program(builds={**_SCRIPTS, ("test",): Build()}, network=_INSTALL),
    "npx": Program(command_at=0, command_texts="each"),
    "bunx": Program(command_at=0),
    "deno": Program(builds={("test",): Build()}),
    "tsc": _only(
        Options(short="b", files="p", long=("--noEmit", "--build", "--pretty", "--watch=")),
        "-b", "-p", "--noEmit", "--build", "--watch",
    ),
    "eslint": _only(Options(long=("--fix", "--quiet", "--ext=", "--max-warnings=")), "--fix"),
    "prettier": _only(
        Options(short="wcl", long=("--write", "--check", "--list-different")),
        "-w", "-c", "-l", "--write", "--check", "--list-different",
    ),
    "jest": _only(Options(short="t", long=("--coverage", "--ci", "--runInBand", "--verbose", "--silent")), "--ci"),
    "vitest": Program(builds={("run",): Build(Options(long=("--coverage",)))}),
    # Compiled languages
    "go": Program(
        builds={("test",): _GO, ("build",): _GO, ("vet",): Build()}, network=frozenset(("get", "install", "mod"))
    ),
    "cargo": Program(
        builds={
            **{(each,): _CARGO for each in ("test", "build", "check", "clippy", "bench", "doc")},
            ("fmt",): Build(Options(long=("--all", "--check")), signature_options=("--check",)),
        },
        network=frozenset(("fetch", "install", "add", "update", "publish", "search")),
        publishes="publish",
    ),
    "rustup": Program(network=_INSTALL | {"toolchain", "target", "component"}),
    **dict.fromkeys(("gcc", "g++", "clang", "sqlite3"), Program(version=("--version",))),
    "java": Program(version=("-version", "--version")),
    "make": Program(version=("--version", "-v"), builds={(): _MAKE}, runs_input=True),
    "cmake": Program(
        version=("--version",),
        builds={("--build",): Build(Options(texts="j", long=("--target=", "--config=", "--parallel=?")),
                                    signature_options=("--target", "--config"), operands="targets")},
    ),
    "ctest": _only(
        Options(short="VQ", texts="jR", long=("--output-on-failure", "--verbose"), most_operands=0),
        operands="targets",
    ),
    "ninja": _only(Options(short="v", texts="j", files="C"), "-C", operands="targets"),
    "mvn": Program(builds={("test",): _MAVEN, ("compile",): _MAVEN}),
    "gradle": Program(builds={("test",): _GRADLE, ("build",): _GRADLE}),
    "dotnet": Program(
        builds={
            ("test",): Build(Options(long=("--no-restore", "--no-build", "--nologo")),
                             signature_options=("--no-restore", "--no-build"), operands="targets"),
            ("build",): Build(Options(long=("--no-restore", "--nologo")),
                              signature_options=("--no-restore",), operands="targets"),
        },
        network=frozenset(("restore", "add")),
    ),
    "swift": Program(builds={("test",): _ALONE, ("build",): _ALONE}),
    # Other languages
    "mix": Program(builds={("test",): Build()}),
    "rspec": _only(Options()),
    "bundle": Program(builds={("exec", "rspec"): Build()}, command_after=_NODE_RUN, network=_INSTALL),
    "gem": Program(network=_INSTALL, publishes="push"),
    "phpunit": _only(Options()),
    "composer": Program(network=_INSTALL | {"require"}),
    **dict.fromkeys(("mise", "asdf", "opam"), Program(command_after=_NODE_RUN)),
}  # fmt: skip
