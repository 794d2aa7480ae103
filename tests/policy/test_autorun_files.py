"""Autorun files (`.vscode`, `.envrc` …) are not written unasked, however they are named and whatever tool writes."""

import json
from pathlib import Path

import pytest

from coderelay.policy.judge import Policy, Verdict, judge
from coderelay.protocol.asks import Allow, Ask, Deny, PermissionAsk
from coderelay.protocol.autorun_files import AUTORUN_FILES, autorun_entry
from coderelay.protocol.calls import Need
from coderelay.protocol.events import BatchOpened
from coderelay.protocol.session_setting_values import Mode, Preset
from coderelay.tools.builtin_tools import SPECS
from tests.house import InHouse, house, story
from tests.model_server import Call, call, proposes, read, says, script, write
from tests.policy.rule_parsing import read_rules
from tests.tools.toolbox_scene import lay_out, scene

TASKS = ".vscode/tasks.json"
BECAUSE_OF_VS_CODE = f"VS Code can run programs that {TASKS} names when the folder is opened"

OBEYED = [
    TASKS,
    ".vscode/settings.json",
    "packages/a/.vscode/launch.json",
    ".VSCode/tasks.json",
    ".v\u017fcode/tasks.json",  # a long s, which some file systems take for an s
    ".vs\u200bcode/tasks.json",
    ".vscode./tasks.json",
    "VSCODE~1/tasks.json",
    "my.code-workspace",
    ".idea/workspace.xml",
    ".zed/tasks.json",
    ".helix/languages.toml",
    ".vs/tasks.vs.json",
    ".hg/hgrc",
    "binding.gyp",
    "rust-toolchain.toml",
    ".exrc",
    ".dir-locals.el",
    "x.sublime-project",
    ".devcontainer/devcontainer.json",
    ".devcontainer.json",
    ".envrc",
    "sub/.envrc",
    "mise.toml",
    ".mise.local.toml",
    ".tool-versions",
    ".bashrc",
    "dotfiles/.zshrc",
    ".husky/pre-commit",
    ".pre-commit-config.yaml",
    "lefthook.yml",
    ".npmrc",
    ".yarnrc.yml",
    ".yarn/releases/yarn-4.cjs",
    ".cargo/config.toml",
    ".gitmodules",
    ".mcp.json",
    ".cursor/mcp.json",
    ".claude/commands/x.md",
    ".gemini/settings.json",
    ".codex/config.toml",
    ".github/workflows/ci.yml",
    ".GitHub/Workflows/ci.yml",
    ".gitlab-ci.yml",
    "Jenkinsfile",
]
ORDINARY = [
    "Makefile",
    "package.json",
    "conftest.py",
    "Dockerfile",
    "docker-compose.yml",
    "AGENTS.md",
    "CLAUDE.md",
    ".gitignore",
    ".gitattributes",
    ".editorconfig",
    ".github/ISSUE_TEMPLATE.md",
    ".cargo/notes.md",
    "vscode/tasks.json",
    ".vscodeignore",
    "src/envrc.py",
    "docs/husky.md",
    "workflows/ci.yml",
    ".yarn/cache/x.zip",
    ".config/app.toml",
    ".python-version",
]


def verdict_on(
    *paths: str,
    mode: Mode = "auto-edit",
    preset: Preset = "balanced",
    allow: tuple[str, ...] = (),
    kind: str = "edit",
) -> Verdict:
    need = Need(
        "write", "edit" if kind == "edit" else "read", "t", paths=tuple(f"/project/.idea/{each}" for each in paths)
    )
    (verdict,) = judge(
        [need], Policy(mode, SPECS, preset=preset, rules=read_rules(allow), folders=("/project/.idea",))
    )
    return verdict


@pytest.mark.parametrize("path", OBEYED)
def test_auto_edit_does_not_write_what_other_programs_obey(path: str) -> None:
    assert verdict_on(path).verdict == "ask"
    assert verdict_on("README.md", path).verdict == "ask"
    assert path in verdict_on(path).reason


@pytest.mark.parametrize("path", ORDINARY)
def test_auto_edit_writes_ordinary_files_unasked(path: str) -> None:
    assert verdict_on(path) == Verdict("allow")


@pytest.mark.parametrize(
    ("mode", "preset", "expected"),
    [
        ("plan", "balanced", "deny"),
        ("default", "strict", "ask"),
        ("default", "balanced", "ask"),
        ("default", "auto-edit", "ask"),
        ("default", "yolo", "ask"),
        ("auto-edit", "balanced", "ask"),
        ("yolo", "balanced", "allow"),
    ],
)
def test_every_mode_but_yolo_asks_and_reading_is_free(mode: Mode, preset: Preset, expected: str) -> None:
    found = verdict_on(TASKS, mode=mode, preset=preset)
    assert found.verdict == expected
    assert expected != "ask" or found.reason == BECAUSE_OF_VS_CODE
    assert verdict_on(TASKS, mode=mode, preset=preset, kind="read") == Verdict("allow")


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("edit", "ask"),
        ("edit(**)", "ask"),
        ("edit(*.json)", "ask"),
        ("edit(.vscode/**)", "allow"),
        ("write(**/.vscode/tasks.json)", "allow"),
        ("edit(.idea/**)", "ask"),
    ],
)
def test_a_rule_allows_such_a_file_only_if_it_names_it(rule: str, expected: str) -> None:
    assert verdict_on(TASKS, allow=(rule,)).verdict == expected


def test_every_reason_names_the_file() -> None:
    assert [files for files in AUTORUN_FILES if "{path}" not in files.why] == []
    assert [
        name for files in AUTORUN_FILES for name in files.names if autorun_entry(name.replace("*", "x")) is None
    ] == []


async def asked(coder: InHouse) -> list[tuple[str, str]]:
    asks = [each for each in await coder.asks() if isinstance(each, PermissionAsk)]
    return [(each.need.tool, each.reason) for each in asks]


async def next_ask(coder: InHouse, first: Ask) -> PermissionAsk:
    """The one after the first, which was answered."""
    opened = await coder.until(
        lambda event: isinstance(event, BatchOpened) and any(each.ask not in (None, first) for each in event.judged)
    )
    assert isinstance(opened.event, BatchOpened)
    (judged,) = opened.event.judged
    assert isinstance(judged.ask, PermissionAsk)
    return judged.ask


def patch(*lines: str) -> Call:
    return call("patch", patch="\n".join(["*** Begin Patch", *lines, "*** End Patch"]))


@pytest.mark.quick
@story
async def test_write_edit_and_patch_ask_in_auto_edit_and_say_why(tmp_path: Path) -> None:
    calls = [
        write(".envrc", "evil"),
        call("edit", path=TASKS, old="[]", new="[1]"),
        patch("*** Add File: ok.txt", "+x", "*** Add File: sub/.mcp.json", "+{}"),
        patch("*** Update File: plain", "*** Move to: .husky/pre-commit", "@@", "-x", "+y"),
        write("ordinary", "x"),
    ]
    async with house(tmp_path, script(proposes(*calls), says("done"))) as coder:
        lay_out(coder.folder, {TASKS: "[]\n", "plain": "x\n"})
        await coder.create("auto-edit")
        await coder.prompt("go")
        assert await asked(coder) == [
            ("write", "a shell can run commands from .envrc when the folder is entered"),
            ("edit", BECAUSE_OF_VS_CODE),
            ("patch", "coding agents can start programs that sub/.mcp.json names"),
            ("patch", "git hooks run what .husky/pre-commit says when something is committed"),
        ]
        for ask in await coder.asks():
            await coder.answer(ask, Deny())
        await coder.ended()
        assert sorted(str(each.relative_to(coder.folder)) for each in coder.folder.rglob("*") if each.is_file()) == [
            TASKS,
            "ordinary",
            "plain",
        ]


@story
async def test_always_covers_that_very_file_only(tmp_path: Path) -> None:
    steps = [
        proposes(write(TASKS, "[]")),
        proposes(write(TASKS, "[1]")),
        proposes(write(".vscode/settings.json", "{}")),
        says("done"),
    ]
    async with house(tmp_path, script(*steps)) as coder:
        await coder.create("auto-edit")
        await coder.prompt("go")
        (first,) = await coder.asks()
        await coder.answer(first, Allow("session"))
        ask = await next_ask(coder, first)
        assert ask.reason == "VS Code can run programs that .vscode/settings.json names when the folder is opened"
        assert (coder.folder / TASKS).read_text() == "[1]"
        await coder.answer(ask, Deny())
        await coder.ended()


SCRIPTS = {"test": "jest", "prepare": "husky"}
PACKAGE = {"name": "a", "scripts": SCRIPTS, "dependencies": {"x": "1"}}


@pytest.mark.parametrize(
    ("change", "scripts"),
    [
        ({}, False),
        ({"dependencies": {"x": "2"}}, False),
        ({"scripts": {"test": "vitest", "prepare": "husky"}}, False),
        ({"scripts": {"test": "jest", "prepare": "evil"}}, True),
        ({"scripts": {"test": "jest"}}, True),
        ({"scripts": {**SCRIPTS, "postinstall": "evil"}}, True),
        ({"lint-staged": {"*": "evil"}}, True),
    ],
)
@story
async def test_a_package_json_is_asked_about_if_install_scripts_change(
    tmp_path: Path, change: dict[str, object], scripts: bool
) -> None:
    lay_out(tmp_path, {"package.json": json.dumps(PACKAGE)})
    content = json.dumps({**PACKAGE, **change}) + "\n"
    async with scene(tmp_path) as there:
        await there.run("read", path="package.json")
        need = there.need("write", path="package.json", content=content)
        assert need.scripts == ((str(tmp_path / "package.json"),) if scripts else ())
        (found,) = judge([need], Policy("auto-edit", SPECS, folders=(str(tmp_path),)))
        assert found == (
            Verdict("ask", "package managers run install scripts that package.json names")
            if scripts
            else Verdict("allow")
        )


@story
async def test_a_new_package_json_and_one_nobody_can_read_are_asked_about_too(tmp_path: Path) -> None:
    lay_out(tmp_path, {"p.txt": '{"scripts": {"postinstall": "evil"}}\n'})
    async with scene(tmp_path) as there:
        harmless = there.need("write", path="a/package.json", content='{"scripts": {"test": "jest"}}')
        evil = there.need("write", path="a/Package.JSON", content='{"scripts": {"postinstall": "evil"}}')
        broken = there.need("write", path="a/package.json", content='{"scripts": {"postinstall"')
        long = there.need(
            "write", path="a/package.json", content=f'{{"x": {"1" * 5000}, "scripts": {{"install": "evil"}}}}'
        )
        deep = there.need("write", path="a/package.json", content="[" * 100_000)
        text = "*** Begin Patch\n*** Update File: p.txt\n*** Move to: package.json\n*** End Patch"
        await there.run("read", path="p.txt")
        moved = there.need("patch", patch=text)
        assert [bool(need.scripts) for need in (harmless, evil, broken, long, deep, moved)] == [False, *[True] * 5]


@story
async def test_what_was_always_allowed_for_a_package_json_does_not_cover_install_scripts(tmp_path: Path) -> None:
    steps = [
        proposes(read("package.json")),
        proposes(write("package.json", '{"dependencies": {}}')),
        proposes(write("package.json", '{"scripts": {"postinstall": "evil"}}')),
        says("done"),
    ]
    async with house(tmp_path, script(*steps)) as coder:
        lay_out(coder.folder, {"package.json": "{}"})
        await coder.create("default")
        await coder.prompt("go")
        (first,) = await coder.asks()
        await coder.answer(first, Allow("session"))
        ask = await next_ask(coder, first)
        assert ask.reason == "package managers run install scripts that package.json names"
        await coder.answer(ask, Deny())
        await coder.ended()
        assert (coder.folder / "package.json").read_text() == '{"dependencies": {}}'
