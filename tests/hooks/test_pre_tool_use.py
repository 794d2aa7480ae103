"""PreToolUse: a hook looks at a call before it is allowed. It may forbid it or have it asked about, nothing else."""

import json
from pathlib import Path

import pytest

from coderelay.protocol.asks import Allow, Deny, PermissionAsk
from coderelay.protocol.events import AskAnswered
from tests.hooks.hook_scripts import configure, hook, says_json, told, verdicts
from tests.hooks.hook_scripts import script as program
from tests.house import house, story
from tests.model_server import bash, call, proposes, read, says, script, write


@pytest.mark.quick
@story
async def test_a26_a_hook_denies_by_exit_code_and_the_model_is_told_why(tmp_path: Path) -> None:
    guard = program(tmp_path, "grep -q 'push' && { echo 'nobody pushes from here' >&2; exit 2; }\nexit 0\n")
    configure(tmp_path, hook("PreToolUse", guard, "Bash"))
    answers = script(proposes(bash("echo push > out"), bash("echo b > out2"), read("x")), says("done"))
    async with house(tmp_path, answers) as coder:
        (coder.folder / "x").write_text("push")
        await coder.prompt("go")
        await coder.ended()
        assert await coder.story() == ["user: go", "bash: denied", "bash: ok", "read: ok", "agent: done"]
        assert (await verdicts(coder))[0] == ("deny", "hook hook0: nobody pushes from here")
        assert told(coder, 1)[0] == "Not allowed: hook hook0: nobody pushes from here. The call did not run."
        assert not (coder.folder / "out").exists()
        assert (coder.folder / "out2").exists()


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ({"decision": "block", "reason": "no"}, ("deny", "hook hook0: no")),
        ({"continue": False, "stopReason": "enough"}, ("deny", "hook hook0: enough")),
        (
            {"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "not this"}},
            ("deny", "hook hook0: not this"),
        ),
        ({"decision": "block"}, ("deny", "hook hook0: no reason was given")),
        (
            {"decision": "approve", "hookSpecificOutput": {"permissionDecision": "deny"}},
            ("deny", "hook hook0: no reason was given"),
        ),
    ],
)
def test_a26_a_hook_denies_in_json(tmp_path: Path, answer: dict[str, object], verdict: tuple[str, str]) -> None:
    guard = program(tmp_path, says_json(answer))
    configure(tmp_path, hook("PreToolUse", guard))

    @story
    async def check() -> None:
        async with house(tmp_path, script(proposes(write("made", "x")), says("done"))) as coder:
            await coder.prompt("go")
            await coder.ended()
            assert await verdicts(coder) == [verdict]
            assert not (coder.folder / "made").exists()

    check()


@pytest.mark.quick
@story
async def test_a26_a_hook_has_a_call_asked_about_even_in_yolo(tmp_path: Path) -> None:
    guard = program(tmp_path, says_json({"hookSpecificOutput": {"permissionDecision": "ask"}, "reason": "look"}))
    configure(tmp_path, hook("PreToolUse", guard, "Write|Edit"))
    answers = script(proposes(write("a", "x"), write("b", "x"), bash("touch c")), says("done"))
    async with house(tmp_path, answers) as coder:
        await coder.create("yolo")
        await coder.prompt("go")
        first, second = await coder.asks()
        assert isinstance(first, PermissionAsk)
        assert (first.reason, first.need.tool) == ("hook hook0: look", "write")
        await coder.answer(first, Allow())
        await coder.answer(second, Deny())
        await coder.ended()
        assert await coder.story() == ["user: go", "write: ok", "write: denied", "bash: ok", "agent: done"]
        assert sorted(each.name for each in coder.folder.glob("[!.]*")) == ["a", "c"]


@story
async def test_a26_a_mode_that_allows_a_call_does_not_answer_what_a_hook_asks(tmp_path: Path) -> None:
    guard = program(tmp_path, says_json({"decision": "ask", "reason": "it makes files"}))
    configure(tmp_path, hook("PreToolUse", guard, "Bash"))
    answers = script(proposes(write("a", "x"), write("b", "x"), bash("mkdir c")), says("done"))
    async with house(tmp_path, answers) as coder:
        await coder.create("default")
        await coder.prompt("go")
        asks = [ask for ask in await coder.asks() if isinstance(ask, PermissionAsk)]
        assert [ask.cause for ask in asks] == ["policy", "policy", "hook"]
        await coder.answer(asks[0], Allow(mode="auto-edit"))
        closed = [each.event.ask_id for each in await coder.events() if isinstance(each.event, AskAnswered)]
        assert closed == [asks[0].id, asks[1].id]
        await coder.answer(asks[2], Deny())
        await coder.ended()
        assert await coder.story() == ["user: go", "write: ok", "write: ok", "bash: denied", "agent: done"]


@pytest.mark.parametrize(
    "answer",
    [
        {"decision": "approve", "reason": "fine"},
        {"hookSpecificOutput": {"permissionDecision": "allow", "permissionDecisionReason": "fine"}},
        {"decision": "approve", "hookSpecificOutput": {"permissionDecision": "allow", "updatedInput": {"a": 1}}},
    ],
)
def test_a26_what_a_hook_approves_is_asked_about_and_denied_as_before(
    tmp_path: Path, answer: dict[str, object]
) -> None:
    configure(
        tmp_path, hook("PreToolUse", program(tmp_path, says_json(answer))), **{"permissions.deny": ["bash(rm)"]}
    )

    @story
    async def check() -> None:
        answers = script(proposes(write("made", "x"), bash("rm x")), says("done"))
        async with house(tmp_path, answers) as coder:
            (coder.folder / "x").write_text("")
            await coder.create("default")
            await coder.prompt("go")
            (ask,) = await coder.asks()
            assert await verdicts(coder) == [
                ("ask", "write changes files (default mode)"),
                ("deny", "denied by the rule rm"),
            ]
            await coder.answer(ask, Deny())
            await coder.ended()
            assert [each.name for each in coder.folder.glob("[!.]*")] == ["x"]

    check()


@story
async def test_a26_a_hook_is_told_the_call_as_hooks_of_other_agents_know_it(tmp_path: Path) -> None:
    configure(tmp_path, hook("PreToolUse", f"cat > {tmp_path}/heard.$$"))
    calls = proposes(call("edit", path="sub/../a.py", old="x", new="y"), bash("pwd"))
    async with house(tmp_path, script(calls, says("done"))) as coder:
        (coder.folder / "a.py").write_text("x")
        await coder.prompt("go")
        await coder.ended()
        heard = [json.loads(path.read_text()) for path in tmp_path.glob("heard.*")]
        edit, command = sorted(heard, key=lambda each: each["tool_name"] != "Edit")
        common = {
            "session_id": coder.session,
            "cwd": str(coder.folder),
            "hook_event_name": "PreToolUse",
            "permission_mode": "bypassPermissions",
            "model": "openai:scripted",
        }
        path = str(coder.folder / "a.py")
        assert edit == common | {
            "tool_name": "Edit",
            "tool_input": {"file_path": path, "old_string": "x", "new_string": "y"},
            "tool_use_id": edit["tool_use_id"],
            "paths": [path],
        }
        assert command == common | {
            "tool_name": "Bash",
            "tool_input": {"command": "pwd"},
            "tool_use_id": command["tool_use_id"],
            "paths": [],
        }


@story
async def test_a26_the_strictest_of_several_hooks_counts(tmp_path: Path) -> None:
    ask = says_json({"hookSpecificOutput": {"permissionDecision": "ask"}})
    deny = says_json({"decision": "block", "reason": "never"})
    allow = says_json({"decision": "approve"})
    configure(tmp_path, {"PreToolUse": [ask, deny, allow]})
    async with house(tmp_path, script(proposes(bash("touch made")), says("done"))) as coder:
        await coder.prompt("go")
        await coder.ended()
        ((verdict, reason),) = await verdicts(coder)
        assert (verdict, reason.endswith(": never")) == ("deny", True)


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        ('{"decision": "block", "reason": "no", "env": null}', "no"),
        ('{"decision": "block", "reason": 5, "env": [1]}', "no reason was given"),
        ('{"decision": "block", "hookSpecificOutput": {"permissionDecision": "defer"}}', "no reason was given"),
        ('{"decision": "block", "hookSpecificOutput": "odd"}', "no reason was given"),
        ('{"decision": "deny", "reason": "no"}', "no"),
        ('{"decision": "Block", "reason": "no"}', "no"),
        ('checking…\n{"decision": "block", "reason": "no"}', "no"),
        ('{}\n{"decision": "block", "reason": "no"}', "no"),
        ('\ufeff{"decision": "block", "reason": "no"}', "no"),
        ('[{"decision": "block", "reason": "no"}]', "no"),
        ('{"broken": \n{"decision": "block", "reason": "no"}', "no"),
    ],
)
def test_a26_hook_denial_counts_even_if_the_rest_of_its_output_is_invalid(
    tmp_path: Path, output: str, reason: str
) -> None:
    (tmp_path / "said").write_text(output)
    configure(tmp_path, hook("PreToolUse", program(tmp_path, f"cat >/dev/null; cat {tmp_path / 'said'}")))

    @story
    async def check() -> None:
        async with house(tmp_path, script(proposes(bash("touch made")), says("done"))) as coder:
            await coder.prompt("go")
            await coder.ended()
            assert await verdicts(coder) == [("deny", f"hook hook0: {reason}")]
            assert not (coder.folder / "made").exists()

    check()


@pytest.mark.parametrize("output", ['checking {"decision": "blo', '[{"decision": "block" "reason"}]'])
def test_a26_a_required_hook_that_may_have_said_no_denies(tmp_path: Path, output: str) -> None:
    (tmp_path / "said").write_text(output)
    command = program(tmp_path, f"cat >/dev/null; cat {tmp_path / 'said'}")
    configure(tmp_path, hook("PreToolUse", command, required=True))

    @story
    async def check() -> None:
        async with house(tmp_path, script(proposes(bash("touch made")), says("done"))) as coder:
            await coder.prompt("go")
            await coder.ended()
            ((verdict, reason),) = await verdicts(coder)
            assert verdict == "deny"
            assert reason.startswith("hook hook0: what it said is not understood: ")

    check()
