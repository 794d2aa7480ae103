"""Hooks that fail, hang, flood, lie or are gone: told of, ended, and in nobody's way unless they are required."""

import json
from contextlib import aclosing
from pathlib import Path

import pytest

from coderelay.protocol.events import Recorded, SessionCreated, TurnEnded
from coderelay.protocol.live_updates import Notice
from tests.hooks.hook_scripts import configure, hook, verdicts
from tests.hooks.hook_scripts import script as program
from tests.house import InHouse, house, story
from tests.model_server import bash, proposes, says, script

FAILING = {
    "fails": ("echo sorry >&2; exit 1", "exit code 1: sorry"),
    "gone": ("/nowhere/guard", "exit code 127: "),
    "killed": ("kill -9 $$", "ended by signal 9"),
    "lies": ("echo '{\"decision\": '", "what it said is not understood: "),
    "lies in type": ('echo \'{"decision": "perhaps"}\'', "what it said is not understood: "),
    "floods": ("yes '{' | head -c 3000000", "it wrote too much"),
    "floods errors": ("yes nonsense | head -c 3000000 >&2; exit 1", "exit code 1: nonsense"),
    "hangs": ("exec tail -f /dev/null", "it did not end within 0.3 s"),
}
NAMES = {"gone": "guard", "killed": "kill -9 $$"}


async def notices_of_a_turn(coder: InHouse) -> list[str]:
    """What people are told while it goes on."""
    told: list[str] = []
    async with aclosing(coder.host.follow(await coder.create())) as feed:
        async for each in feed:
            match each:
                case Notice():
                    told.append(each.text)
                case Recorded(event=SessionCreated()):
                    await coder.prompt("go")
                case Recorded(event=TurnEnded()):
                    break
                case _:
                    pass
    return told


@pytest.mark.parametrize("kind", FAILING)
@pytest.mark.parametrize("required", [False, True])
def test_a26_a_hook_that_fails_blocks_only_if_it_is_required(tmp_path: Path, kind: str, required: bool) -> None:
    command, trouble = FAILING[kind]
    command = command if kind in NAMES else program(tmp_path, command)
    seconds = 0.3 if kind == "hangs" else 60
    configure(tmp_path, hook("PreToolUse", command, required=required, timeout=seconds))

    @story
    async def check() -> None:
        async with house(tmp_path, script(proposes(bash("touch made")), says("done"))) as coder:
            (told,) = await notices_of_a_turn(coder)
            ((verdict, reason),) = await verdicts(coder)
            assert told == reason.removeprefix("yolo mode; ")
            assert trouble in told
            assert told.startswith(f"hook {NAMES.get(kind, 'hook0')}: ")
            assert verdict == ("deny" if required else "allow")
            assert (coder.folder / "made").exists() is not required
            assert len(told) < 20_000

    check()


@story
async def test_a26_nothing_of_a_hook_that_hangs_is_left(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    configure(tmp_path, hook("PreToolUse", f"sleep 1000 & echo $! > {pid}; wait", timeout=1))
    async with house(tmp_path, script(proposes(bash("touch made")), says("done"))) as coder:
        await coder.prompt("go")
        await coder.ended()
        started = pid.read_text().split() if pid.exists() else []  # none, on a machine that needs more than a second
        assert [each for each in started if Path(f"/proc/{each}").exists()] == []


@story
async def test_a26_a_flood_of_errors_still_denies(tmp_path: Path) -> None:
    configure(tmp_path, hook("PreToolUse", "yes no | head -c 3000000 | tee /dev/stderr; exit 2"))
    async with house(tmp_path, script(proposes(bash("touch made")), says("done"))) as coder:
        await coder.prompt("go")
        await coder.ended()
        ((verdict, reason),) = await verdicts(coder)
        assert (verdict, len(reason) < 10_000, "no\nno" in reason) == ("deny", True, True)


@story
async def test_a26_a_hook_has_the_persons_environment_without_our_keys(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    configure(tmp_path, hook("PreToolUse", f"env > {seen}"))
    async with house(tmp_path, script(proposes(bash("true")), says("done"))) as coder:
        await coder.prompt("go")
        await coder.ended()
        names = {line.partition("=")[0] for line in seen.read_text().splitlines()}
        assert {"PATH", "CODER_HOME", "CLAUDE_PROJECT_DIR", "CODER_PROJECT_DIR"} <= names
        assert "OPENAI_API_KEY" not in names


@story
async def test_a26_what_hooks_say_holds_no_secret(tmp_path: Path) -> None:
    key = "sk-ant-" + "a1B2c3D4" * 4
    configure(tmp_path, hook("PreToolUse", f"echo 'leaked {key}' >&2; exit 2"))
    async with house(tmp_path, script(proposes(bash("true")), says("done"))) as coder:
        await coder.prompt("go")
        await coder.ended()
        log = json.dumps([str(each) for each in await coder.events()])
        assert "leaked [hidden secret: anthropic key]" in log
