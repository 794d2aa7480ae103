"""`coder -p` through its front door."""

import json
import os
import signal
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from coderelay.testing.model_server import without_notes
from coderelay.tools.builtin_tools import SPECS
from tests.coder_process import Coder, Ran
from tests.conftest import Serve
from tests.model_server import (
    ModelServerThread,
    bash,
    call,
    cut_off,
    empty,
    hangs,
    http_error,
    proposes,
    raw_call,
    read,
    says,
    script,
    tokens,
    write,
)

CoderOn = Callable[[ModelServerThread], Coder]


def test_c02_a_text_without_calls_ends_the_turn(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script(says("hello"))))
    assert coder.run("-p", "hi") == Ran(0, "hello\n", "")


@pytest.mark.quick
def test_c13_several_steps_until_no_calls(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    (folder / "in.txt").write_text("one\ntwo\n")
    server = serve(
        script(
            proposes(read("in.txt")),
            proposes(write("out.txt", "three"), bash("cat in.txt out.txt")),
            says("built"),
        )
    )
    ran = coder_on(server).run("-p", "build", "--mode", "yolo")
    unchecked = "tests not run: no test command found for this project; "
    assert ran == Ran(0, "built\n", f"coder: {unchecked}name one in `workflow.verify_commands`\n")
    assert (folder / "out.txt").read_text() == "three"
    results = [m["content"] for m in server.requests[-1]["messages"] if m["role"] == "tool"]
    assert results == ["1\tone\n2\ttwo", "created out.txt (1 line)", "one\ntwo\nthree"]


def test_c03_the_users_message_is_the_first_of_the_history(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(says("a"), says("b")))
    coder = coder_on(server)
    coder.run("-p", "first")
    coder.run("-p", "second", "--continue")
    said = [(m["role"], without_notes(m["content"])) for m in server.requests[1]["messages"][1:]]
    assert said == [("user", "first"), ("assistant", "a"), ("user", "second")]


def test_b55_stream_json_has_the_shapes_in_order(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script(proposes(bash("echo hi"), text="look"), says("done", thinking="hm"))))
    ran = coder.run("-p", "go", "--mode", "yolo", "--output", "stream-json")
    messages = [json.loads(line) for line in ran.out.splitlines()]
    kinds = [m["type"] for m in messages if m["type"] != "stream_event"]
    assert kinds == ["system", "assistant", "user", "assistant", "result"]
    init, first, result, last, end = [m for m in messages if m["type"] != "stream_event"]
    assert (init["subtype"], init["permissionMode"]) == ("init", "bypassPermissions")
    assert first["message"]["content"][1] == {
        "type": "tool_use",
        "id": first["message"]["content"][1]["id"],
        "name": "Bash",
        "input": {"command": "echo hi"},
    }
    assert result["message"]["content"][0]["content"] == "hi"
    assert last["message"]["content"] == [
        {"type": "thinking", "thinking": "hm", "signature": ""},
        {"type": "text", "text": "done"},
    ]
    assert (end["subtype"], end["result"], end["num_turns"]) == ("success", "done", 2)


def test_b57_partial_blocks_start_grow_and_stop_before_the_message(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script(says("one two three", thinking="hm hm"))))
    ran = coder.run("-p", "go", "--output", "stream-json")
    messages = [json.loads(line) for line in ran.out.splitlines()]
    assert _partial_text(messages) == ("hm hm", "one two three")
    kinds = [m["event"]["type"] if m["type"] == "stream_event" else m["type"] for m in messages]
    assert kinds[0] == "system"
    assert kinds[-3:] == ["content_block_stop", "assistant", "result"]
    assert kinds.count("content_block_start") == kinds.count("content_block_stop") == 2


def _partial_text(messages: list[dict[str, Any]]) -> tuple[str, str]:
    deltas = [m["event"].get("delta", {}) for m in messages if m["type"] == "stream_event"]
    thinking = "".join(d.get("thinking", "") for d in deltas)
    return thinking, "".join(d.get("text", "") for d in deltas)


def test_json_output_is_the_one_result(serve: Serve, coder_on: CoderOn) -> None:
    ran = coder_on(serve(script(says("hello")))).run("-p", "hi", "--output", "json")
    result = json.loads(ran.out)
    assert (result["type"], result["subtype"], result["result"], result["is_error"]) == (
        "result",
        "success",
        "hello",
        False,
    )


def test_a_prompt_from_a_pipe(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(says("read")))
    assert coder_on(server).run("-p", "-", text="from\na pipe\n").out == "read\n"
    assert without_notes(server.requests[0]["messages"][-1]["content"]) == "from\na pipe\n"


def test_x16_a_slash_or_a_bang_is_ordinary_text(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(says("a"), says("b")))
    coder = coder_on(server)
    coder.run("-p", "!rm -rf .")
    coder.run("-p", "/help")
    assert [without_notes(each["messages"][-1]["content"]) for each in server.requests] == ["!rm -rf .", "/help"]


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["-p", "x", "--mode", "fast"], "--mode"),
        (["-p", ""], "the prompt is empty"),
        (["-p", "x", "--max-steps", "0"], "--max-steps"),
        (["-p", "x", "--resume", "a", "--continue"], "cannot be used together"),
        (["models"], "/models; did you mean `coder model`?"),
        (["-p", "x", "--cwd", "/nowhere/at/all"], "no such folder"),
        (["-p", "x", "--outputs", "json"], "--outputs"),
    ],
)
def test_usage_errors_exit_with_2_and_name_what_is_wrong(
    serve: Serve, coder_on: CoderOn, arguments: list[str], named: str
) -> None:
    coder = coder_on(serve(script()))
    ran = coder.run(*arguments)
    assert ran.code == 2
    assert named in ran.err
    assert not coder.home.exists()


def test_without_a_model_the_guide_answers_and_says_so(tmp_path: Path, folder: Path) -> None:
    ran = Coder(tmp_path / "home", folder, None).run("-p", "hi", env={"HOME": str(tmp_path)})
    assert ran.code == 0
    assert ran.err.startswith("coder: No model found. A built-in guide answers simple requests.")
    assert ran.out.startswith("No model is connected.")


def test_an_unknown_session_is_named(serve: Serve, coder_on: CoderOn) -> None:
    ran = coder_on(serve(script())).run("-p", "hi", "--resume", "nope")
    assert ran.code == 1
    assert "no session 'nope'" in ran.err


def test_nothing_to_continue_is_said(serve: Serve, coder_on: CoderOn) -> None:
    ran = coder_on(serve(script())).run("-p", "hi", "--continue")
    assert ran.code == 1
    assert "no session to continue in" in ran.err


def test_c46_a_provider_failure_ends_the_turn_and_exits_1(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(http_error(400, "no such model"), says("again")))
    coder = coder_on(server)
    ran = coder.run("-p", "hi")
    assert ran.code == 1
    assert "400: no such model" in ran.err
    assert coder.run("-p", "again", "--continue") == Ran(0, "again\n", "")
    assert without_notes(server.requests[-1]["messages"][-1]["content"]) == "hi\n\nagain"


@pytest.mark.parametrize("fault", [cut_off(says("one two three"), after_pieces=2), empty()])
def test_c46_a_broken_answer_ends_the_turn_and_the_session_goes_on(
    serve: Serve, coder_on: CoderOn, fault: Any
) -> None:
    coder = coder_on(serve(script(fault, says("fine"))))
    assert coder.run("-p", "hi").code == 1
    assert coder.run("-p", "go on", "--continue") == Ran(0, "fine\n", "")


def test_half_received_calls_are_dropped(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    half = proposes(bash("touch whole"), bash("touch half; " + "x" * 200))
    coder = coder_on(serve(script(cut_off(half, after_pieces=4), says("fine"))))
    assert coder.run("-p", "hi", "--mode", "yolo").code == 1
    assert list(folder.glob("[!.]*")) == []
    assert coder.run("-p", "go on", "--continue").code == 0


def test_x12_out_of_tokens_is_a_success_with_that_reason(serve: Serve, coder_on: CoderOn) -> None:
    cut_short = says("half an ans", finish_reason="length")
    ran = coder_on(serve(script(cut_short))).run("-p", "hi", "--output", "json")
    result = json.loads(ran.out)
    assert (ran.code, result["subtype"], result["stop_reason"]) == (0, "success", "max_tokens")


def test_c46_x12_the_step_limit_ends_the_turn_with_4(serve: Serve, coder_on: CoderOn) -> None:
    steps = [proposes(bash("true")) for _ in range(3)]
    coder = coder_on(serve(script(*steps, says("more"))))
    ran = coder.run("-p", "loop", "--mode", "yolo", "--max-steps", "3")
    assert (ran.code, ran.err) == (4, "coder: step limit reached\n")
    assert coder.run("-p", "go on", "--continue", "--output", "json").code == 0


def test_c13_the_step_limit_is_128_by_default(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(*[proposes(read(f"no{n}")) for n in range(129)]))
    ran = coder_on(server).run("-p", "loop", "--output", "json")
    assert (ran.code, len(server.requests)) == (4, 128)
    assert json.loads(ran.out)["subtype"] == "error_max_turns"


@pytest.mark.quick
def test_x04_an_ask_with_nobody_there_is_denied_and_exits_3(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    server = serve(script(proposes(write("a", "x"), read("b"), bash("touch c")), says("sorry")))
    (folder / "b").write_text("b")
    ran = coder_on(server).run("-p", "write")
    assert (ran.code, ran.out) == (3, "sorry\n")
    assert sorted(path.name for path in folder.glob("[!.]*")) == ["b"]
    results = [m["content"] for m in server.requests[-1]["messages"] if m["role"] == "tool"]
    assert results[1] == "1\tb"
    assert all("nobody was there" in results[each] for each in (0, 2))


def test_x04_unattended_allow_runs_it(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    coder = coder_on(serve(script(proposes(write("a", "x")), says("ok"))))
    assert coder.run("-p", "write", "--unattended", "allow").code == 0
    assert (folder / "a").read_text() == "x"


def test_x04_unattended_park_leaves_the_ask_open(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script(proposes(write("a", "x")))))
    ran = coder.run("-p", "write", "--unattended", "park")
    assert ran.code == 5
    (session,) = _sessions(coder)
    assert session["id"] in ran.err
    assert (session["phase"], session["open_asks"]) == ("waiting", 1)
    behind = coder.run("-p", "more", "--continue")
    assert (behind.code, _sessions(coder)[0]["queued"]) == (5, 1)
    assert "queued" in behind.err


def test_c32_x01_a_tool_that_is_not_allowed_is_denied(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    server = serve(script(proposes(bash("touch a"), write("b", "x")), says("ok")))
    ran = coder_on(server).run("-p", "go", "--mode", "yolo", "--allowed-tools", "Read,Edit")
    assert ran.code == 0
    assert sorted(path.name for path in folder.glob("[!.]*")) == ["b"]
    assert "is not allowed in this session" in server.requests[-1]["messages"][-2]["content"]


def test_c06_plan_mode_changes_nothing(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    coder = coder_on(serve(script(proposes(write("a", "x"), bash("touch b")), says("a plan"))))
    ran = coder.run("-p", "go", "--mode", "plan")
    assert (ran.code, ran.out) == (0, "a plan\n")
    assert list(folder.glob("[!.]*")) == []


def test_what_a_model_did_wrong_is_a_result_it_can_act_on(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(
        script(
            proposes(
                raw_call("bash", '{"command": '),
                call("fly", height=3),
                call("read", file="x"),
                read("../outside"),
                read("missing"),
            ),
            says("sorry"),
        )
    )
    assert coder_on(server).run("-p", "go", "--mode", "yolo").code == 0
    results = [m["content"] for m in server.requests[-1]["messages"] if m["role"] == "tool"]
    assert all(result.startswith("Error: ") for result in results)
    for result, named in zip(results, ["bash", "fly", "path", "outside the workspace", "No such file"], strict=True):
        assert named in result


def test_c48_c49_c50_x14_the_snapshot_is_private_and_can_be_replayed(
    serve: Serve, coder_on: CoderOn, folder: Path
) -> None:
    server = serve(script(proposes(bash("echo hi"), text="look"), says("done", thinking="hm"), says("again")))
    coder = coder_on(server)
    coder.run("-p", "go", "--mode", "yolo")
    (path,) = (folder / ".coder" / "sessions").glob("*.json")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert (path.parent / ".gitignore").read_text() == "*\n"
    saved = json.loads(path.read_text())
    assert [m["role"] for m in saved["messages"]] == ["system", "user", "assistant", "tool", "assistant"]
    assert saved["messages"][3]["name"] == "bash"
    assert saved["messages"][3]["tool_call_id"] == saved["messages"][2]["tool_calls"][0]["id"]
    assert saved["messages"][4]["reasoning"] == "hm"
    names = [tool["function"]["name"] for tool in saved["tools"]]
    assert names == [spec.name for spec in SPECS if spec.name != "skill"]
    _replay(server, saved)


def _replay(server: ModelServerThread, saved: dict[str, Any]) -> None:
    """Model, tools and messages as they stand in the file, with one more question."""
    from urllib.request import Request, urlopen

    messages = [*saved["messages"], {"role": "user", "content": "and now?"}]
    body = {"model": saved["model"], "tools": saved["tools"], "messages": messages, "stream": True}
    request = Request(
        server.base_url + "/chat/completions",
        json.dumps(body).encode(),
        {"authorization": "Bearer x", "content-type": "application/json"},
    )
    with urlopen(request, timeout=10) as response:
        assert b"again" in response.read()


def test_twenty_thousand_tokens_arrive_whole(serve: Serve, coder_on: CoderOn) -> None:
    ran = coder_on(serve(script(tokens(20_000)))).run("-p", "talk", "--output", "stream-json")
    messages = [json.loads(line) for line in ran.out.splitlines()]
    assert _partial_text(messages)[1] == messages[-1]["result"]
    assert len(messages[-1]["result"].split()) == 20_000


@pytest.mark.quick
def test_ctrl_c_stops_the_turn_and_keeps_what_was_said(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(hangs(says("one two three four"), after_pieces=3), says("fine")))
    coder = coder_on(server)
    started = coder.start("-p", "go", "--output", "stream-json")
    _wait_for_line(started, "content_block_delta")
    started.send(signal.SIGINT)
    ran = started.wait()
    assert ran.code == 130
    assert json.loads(ran.out.splitlines()[-1])["stop_reason"] == "cancelled"
    assert _sessions(coder)[0]["phase"] == "stopped"
    assert coder.run("-p", "go on", "--continue") == Ran(0, "fine\n", "")
    roles = [m["role"] for m in server.requests[-1]["messages"]]
    assert roles == ["system", "user", "assistant", "user"]


def test_ctrl_c_kills_the_whole_process_group(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    command = "echo $$ > pid; (sleep 600 & echo $! > child; wait)"
    server = serve(script(proposes(bash(command), bash("touch never")), says("fine")))
    coder = coder_on(server)
    started = coder.start("-p", "go", "--mode", "yolo")
    pids = [_pid(folder / "pid"), _pid(folder / "child")]
    started.send(signal.SIGINT)
    assert started.wait().code == 130
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)
    assert not (folder / "never").exists()
    assert coder.run("-p", "go on", "--continue") == Ran(0, "fine\n", "")
    results = [m["content"] for m in server.requests[-1]["messages"] if m["role"] == "tool"]
    assert "Stopped by the person while it ran" in results[0]
    assert results[1] == "Not run: the person stopped the turn."


def test_ctrl_c_behind_another_turn_takes_the_prompt_back(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    """Symptom: it stopped the other one's turn and then waited for ever."""
    coder = coder_on(serve(script(proposes(bash("touch began; until [ -e go ]; do sleep 0.01; done")), says("mine"))))
    first = coder.start("-p", "first", "--mode", "yolo")
    _wait_for(folder / "began")
    second = coder.start("-p", "second", "--continue")
    _wait_until(lambda: _sessions(coder)[0].get("queued") == 1)
    second.send(signal.SIGINT)
    assert second.wait().code == 130
    assert "queued" not in _sessions(coder)[0]
    (folder / "go").touch()
    assert first.wait() == Ran(0, "mine\n", "")


def test_sigterm_leaves_the_turn_to_whoever_comes_next(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    server = serve(script(proposes(bash("echo $$ > pid; sleep 600")), says("carried on"), says("next")))
    coder = coder_on(server)
    started = coder.start("-p", "go", "--mode", "yolo")
    pid = _pid(folder / "pid")
    started.send(signal.SIGTERM)
    assert started.wait().code == 130
    assert not Path(f"/proc/{pid}").exists()
    assert _sessions(coder)[0]["phase"] == "running"
    assert coder.run("-p", "more", "--continue") == Ran(0, "next\n", "")
    (result,) = [m["content"] for m in server.requests[1]["messages"] if m["role"] == "tool"]
    assert "may have run; check before repeating" in result


def test_a_closed_pipe_stops_the_turn(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    wait = bash("touch began; until [ -e go ]; do sleep 0.01; done")
    coder = coder_on(serve(script(proposes(wait), proposes(bash("sleep 600")), says("never"))))
    started = coder.start("-p", "go", "--mode", "yolo", "--output", "stream-json")
    _wait_for_line(started, "tool_use")
    assert started.process.stdout is not None
    started.process.stdout.close()
    started.process.stdout = None
    (folder / "go").touch()
    assert started.wait() == Ran(130, "", "")
    assert _sessions(coder)[0]["phase"] == "stopped"


def test_bytes_that_are_no_text_do_no_harm(serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(says("a"), says("b")))
    coder = coder_on(server)
    assert coder.run("-p", os.fsdecode(b"caf\xe9")).code == 0
    assert coder.run("-p", "-", text="\udcff!").code == 0
    assert [without_notes(each["messages"][-1]["content"]) for each in server.requests] == ["caf\ufffd", "\ufffd!"]


def _wait_for_line(started: Any, part: str) -> None:
    while part not in started.process.stdout.readline():
        assert started.process.poll() is None


def _pid(path: Path) -> int:
    _wait_until(lambda: path.exists() and path.read_text().strip() != "")
    return int(path.read_text())


def _wait_for(path: Path) -> None:
    _wait_until(path.exists)


def _wait_until(done: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not done():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.005)


def _sessions(coder: Coder) -> list[dict[str, Any]]:
    return [json.loads(line) for line in coder.run("sessions", "list", "--json").out.splitlines()]


def test_what_a_model_garbles_does_not_spoil_the_session(serve: Serve, coder_on: CoderOn) -> None:
    """Symptom: every later request was refused, because the server was sent what it had sent itself."""
    garbled = proposes(raw_call("functions.bash", "{}"), raw_call("read", '{"a":' * 2000 + "1" + "}" * 2000))
    coder = coder_on(serve(script(garbled, says("", thinking="only thoughts"), says("fine"))))
    coder.run("-p", "one")
    assert coder.run("-p", "two", "--continue") == Ran(0, "fine\n", "")


def test_a_session_file_is_not_put_where_a_link_leads(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    (folder.parent / "elsewhere").mkdir()
    (folder / ".coder").symlink_to(folder.parent / "elsewhere")
    ran = coder_on(serve(script(says("a")))).run("-p", "go")
    assert ran.code == 1
    assert "leads out of the folder" in ran.err
    assert list((folder.parent / "elsewhere").iterdir()) == []
