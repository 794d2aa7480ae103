"""PostToolUse and Stop: what hooks have to say of what was done, and whether it is enough."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from coderelay.protocol.calls import Finished
from coderelay.protocol.events import CallEnded, TurnProlonged
from tests.hooks.hook_scripts import configure, feedback, hook, says_json, told
from tests.hooks.hook_scripts import script as program
from tests.house import house, story
from tests.model_server import bash, hangs, proposes, read, says, script, write


@pytest.mark.quick
@story
async def test_a26_the_model_is_told_what_a_hook_says_of_a_finished_call(tmp_path: Path) -> None:
    checker = program(tmp_path, "grep -q '\"Write\"' && { echo 'line 1: unused import' >&2; exit 2; }\nexit 0\n")
    configure(tmp_path, hook("PostToolUse", checker))
    async with house(tmp_path, script(proposes(write("a.py", "import os"), read("a.py")), says("done"))) as coder:
        await coder.prompt("go")
        await coder.ended()
        assert await feedback(coder) == ["hook hook0: line 1: unused import", ""]
        first, second = told(coder, 1)
        assert first.endswith("\n\nhook hook0: line 1: unused import")
        assert "hook" not in second
        assert await coder.story() == ["user: go", "write: ok", "read: ok", "agent: done"]


@story
async def test_a26_a_hook_runs_between_two_calls_and_hears_the_result(tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    keep = f'cat > {heard}; printf "%s" formatted > "$CLAUDE_PROJECT_DIR/a"; ' + says_json(
        {"hookSpecificOutput": {"additionalContext": "formatted it"}}
    ).replace("cat >/dev/null; ", "")
    configure(tmp_path, hook("PostToolUse", program(tmp_path, keep), "write"))
    async with house(tmp_path, script(proposes(write("a", "raw"), bash("cat a")), says("done"))) as coder:
        await coder.prompt("go")
        await coder.ended()
        assert told(coder, 1)[1] == "formatted"
        assert await feedback(coder) == ["hook hook0: formatted it", ""]
        given = json.loads(heard.read_text())
        ends = [each.event for each in await coder.events() if isinstance(each.event, CallEnded)]
        assert isinstance(ends[0].outcome, Finished)
        response = {"success": True, "output": ends[0].outcome.output, "summary": ends[0].outcome.summary}
        assert (given["hook_event_name"], given["tool_response"]) == ("PostToolUse", response)


@story
async def test_a26_what_failed_or_was_denied_is_not_looked_at(tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    configure(tmp_path, hook("PostToolUse", f"cat >> {heard}"), **{"permissions.deny": ["read(secret)"]})
    async with house(tmp_path, script(proposes(bash("exit 1"), read("secret")), says("done"))) as coder:
        await coder.prompt("go")
        await coder.ended()
        assert not heard.exists()


@story
async def test_a26_d17_a_stop_while_a_hook_looks_keeps_the_result(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "begun")
    configure(tmp_path, hook("PostToolUse", f"echo > {tmp_path / 'begun'}; exec tail -f /dev/null"))
    async with house(tmp_path, script(proposes(bash("echo out"), bash("touch never")))) as coder:
        await coder.prompt("go")
        await _written(tmp_path / "begun")
        await coder.stop()
        ending = await coder.ended()
        ends = [each.event.outcome for each in await coder.events() if isinstance(each.event, CallEnded)]
        assert ending.ending == "stopped"
        assert isinstance(ends[0], Finished)
        assert (ends[0].output, len(ends)) == ("out", 2)
        assert not (coder.folder / "never").exists()


@story
async def test_a26_d17_a_process_that_leaves_while_a_hook_looks_starts_nothing_more(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "begun")
    configure(tmp_path, hook("PostToolUse", f"echo > {tmp_path / 'begun'}; exec tail -f /dev/null"))
    async with house(tmp_path, script(proposes(bash("echo out"), bash("touch made")))) as coder:
        session = await coder.create()
        await coder.prompt("go")
        await _written(tmp_path / "begun")
    configure(tmp_path, {})
    async with house(tmp_path, script(says("done"))) as coder:
        await coder.open(session)
        await coder.ended()
        assert await coder.story() == ["user: go", "bash: ok", "bash: ok", "agent: done"]
        assert (coder.folder / "made").exists()


@story
async def test_a26_a_stop_hook_makes_the_agent_go_on_once(tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    script_text = f"cat >> {heard}; echo >> {heard}; echo 'run the tests first' >&2; exit 2\n"
    configure(tmp_path, hook("Stop", program(tmp_path, script_text)))
    answers = script(says("I am done"), proposes(bash("echo tested")), says("now I am"), says("a"), says("b"))
    async with house(tmp_path, answers) as coder:
        await coder.prompt("go")
        ended = await coder.ended()
        assert (ended.ending, ended.text, ended.steps) == ("done", "now I am", 3)
        assert await coder.story() == ["user: go", "agent: I am done", "bash: ok", "agent: now I am"]
        note = "<hook>The turn is not over yet. hook hook0: run the tests first</hook>"
        assert told(coder, 1) == [note]
        assert (
            coder.server.requests[2]["messages"][: len(coder.server.requests[1]["messages"])]
            == (coder.server.requests[1]["messages"])
        )
        given = [json.loads(line) for line in heard.read_text().splitlines()]
        assert [(each["hook_event_name"], each["stop_hook_active"]) for each in given] == [
            ("Stop", False),
            ("Stop", True),
        ]
        assert [each["last_assistant_message"] for each in given] == ["I am done", "now I am"]
        await coder.prompt("more")
        await coder.ended(2)
        prolonged = [each.event for each in await coder.events() if isinstance(each.event, TurnProlonged)]
        assert [each.reason for each in prolonged] == ["hook hook0: run the tests first"] * 2


@story
async def test_a26_a_stop_hook_does_not_make_a_turn_fail_for_want_of_steps(tmp_path: Path) -> None:
    configure(tmp_path, hook("Stop", "echo more >&2; exit 2"), max_steps=1)
    async with house(tmp_path, script(says("done"))) as coder:
        await coder.prompt("go")
        assert (await coder.ended()).ending == "done"


@story
async def test_a26_d17_a_stop_while_a_stop_hook_runs_keeps_the_answer(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "begun")
    configure(tmp_path, hook("Stop", f"echo > {tmp_path / 'begun'}; exec tail -f /dev/null"))
    async with house(tmp_path, script(says("my answer"))) as coder:
        await coder.prompt("go")
        await _written(tmp_path / "begun")
        await coder.stop()
        await coder.ended()
        assert await coder.story() == ["user: go", "agent: my answer", "(stopped)"]


@story
async def test_a26_another_process_goes_on_with_what_a_stop_hook_said(tmp_path: Path) -> None:
    """The first one leaves while the model is asked again."""
    configure(tmp_path, hook("Stop", "echo more >&2; exit 2"))
    async with house(tmp_path, script(says("done"), hangs(says(""), after_pieces=0))) as coder:
        session = await coder.create()
        await coder.prompt("go")
        await coder.server.wait_for_requests(2)
    async with house(tmp_path, script(says("really"))) as coder:
        await coder.open(session)
        await coder.ended()
        assert told(coder, 0) == ["<hook>The turn is not over yet. hook echo more >&2; exit 2: more</hook>"]
        assert await coder.story() == ["user: go", "agent: done", "agent: really"]


async def _written(pipe: Path) -> None:
    await asyncio.to_thread(pipe.read_text)
