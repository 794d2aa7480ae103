"""A command left running: told of at once, looked at, stopped, and gone with its process."""

import re
import sys
from pathlib import Path

import pytest

from coderelay.protocol.asks import Deny, PermissionAsk
from coderelay.protocol.background_commands import BackgroundRow, Exited, Gone, StoppedBy
from coderelay.protocol.calls import CommandEnd, Denied, Failed, Finished
from coderelay.protocol.commands import Accepted, Unchanged
from coderelay.protocol.errors import BadInput
from coderelay.protocol.events import BatchOpened, CallEnded
from coderelay.protocol.queries import ListBackground, ShowSession
from tests.background.background_commands import (
    ONE,
    RUNS,
    HastyHouse,
    TiredHouse,
    WatchingHouse,
    ends,
    eventually,
    in_background,
    is_alive,
    is_end,
    outcomes,
    output_of,
    pid_in,
    stop,
    stop_of,
    texts,
)
from tests.house import ME, house, story
from tests.model_server import bash, hangs, proposes, says, script

SERVER = f"""exec {sys.executable} -c '
import http.server, os
class Hello(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.end_headers(); self.wfile.write(b"hello from " + self.path.encode())
server = http.server.HTTPServer(("127.0.0.1", 0), Hello)
open("new", "w").write(str(server.server_port)); os.rename("new", "port")
server.serve_forever()'"""
CLIENT = f"""while [ ! -e port ]; do sleep 0.01; done; {sys.executable} -c '
import urllib.request
print(urllib.request.urlopen("http://127.0.0.1:" + open("port").read() + "/there").read().decode())'"""


@story
async def test_d17_a_server_in_the_background_answers_the_next_command(tmp_path: Path) -> None:
    steps = [proposes(in_background(SERVER)), proposes(bash(CLIENT)), proposes(stop_of("1")), says("it works")]
    async with house(tmp_path, script(*steps), build=HastyHouse) as coder:
        await coder.prompt("try the server")
        assert (await coder.ended()).ending == "done"
        started, asked, stopped = await texts(coder)
        assert started == "It runs in the background as number 1."
        assert asked == "hello from /there"
        assert stopped.startswith("Background command 1 (exec ")
        assert "was stopped by the agent (bash_stop).\n" in stopped
        assert "GET /there" in stopped
        ((number, end),) = await ends(coder)
        assert (number, isinstance(end, StoppedBy)) == ("1", True)
        assert "<background>" not in str(coder.server.requests[-1]["messages"])  # it knows by the result


@pytest.mark.quick
@story
async def test_d17_background_command_that_fails_immediately_is_reported_in_its_result(tmp_path: Path) -> None:
    steps = [
        proposes(in_background("echo no such port; exit 3")),
        proposes(in_background("echo done")),
        proposes(in_background("kill -9 $$")),
        says("so"),
    ]
    async with house(tmp_path, script(*steps), build=WatchingHouse) as coder:
        await coder.prompt("go")
        await coder.ended()
        failed, done, killed = await outcomes(coder)
        assert failed == Failed("exit code 3\nno such port", summary="exit code 3", end=CommandEnd(exit_code=3))
        assert isinstance(done, Finished)
        assert (done.output, done.background) == ("done", None)
        assert killed == Failed("ended by signal 9", summary="ended by signal 9", end=CommandEnd(signal=9))
        assert await coder.host.get(ListBackground(coder.session)) == []


@story
async def test_d17_each_look_shows_what_is_new_and_the_last_one_how_it_ended(tmp_path: Path) -> None:
    waits = "echo one; touch begun; until [ -e more ]; do sleep .01; done; echo two; exit 4"
    steps = [
        proposes(in_background(waits)),
        says("started"),
        proposes(output_of("1")),
        says("seen"),
        proposes(bash("touch more")),
        says("let go"),
        proposes(output_of("1")),
        proposes(output_of("1")),
        says("over"),
    ]
    async with house(tmp_path, script(*steps), build=HastyHouse) as coder:
        for turn, prompt in enumerate(["start", "look", "let go", "look again"], 1):
            await coder.prompt(prompt)
            await coder.ended(turn)
            await eventually((coder.folder / "begun").exists)
            if prompt == "let go":
                await coder.until(is_end)
        started, first, _, second, third = await texts(coder)
        assert [*started.split("\n"), *first.split("\n")].count("one") == 1
        assert first.startswith(f"Background command 1 ({waits}) still runs, for ")
        assert second == f"Background command 1 ({waits}) ended with exit code 4.\ntwo"
        assert third == f"Background command 1 ({waits}) ended with exit code 4."
        assert await ends(coder) == [("1", Exited(4))]


@story
async def test_d17_unknown_background_number_lists_the_running_commands(tmp_path: Path) -> None:
    steps = [
        proposes(output_of("1"), stop_of("7")),
        proposes(in_background(RUNS)),
        proposes(in_background("exec sleep 601")),
        proposes(stop_of("7"), output_of("one")),
        says("sorry"),
    ]
    async with house(tmp_path, script(*steps), build=HastyHouse) as coder:
        await coder.prompt("go")
        await coder.ended()
        told = await texts(coder)
        running = f"1 ({RUNS}), 2 (exec sleep 601) are running"
        assert (told[:2], told[4:]) == (
            [f"no background command {number}; none is running" for number in (1, 7)],
            [f"no background command 7; {running}", f"no background command one; {running}"],
        )
        with pytest.raises(BadInput, match="no background command 9; 1 "):
            await stop(coder, "9")


@story
async def test_d23_background_command_is_judged_like_any_command(tmp_path: Path) -> None:
    """Asked about with the same need, and denied it does not run. To look and to stop needs no asking."""
    steps = [proposes(in_background(RUNS)), proposes(in_background(RUNS)), proposes(output_of("1")), says("ok")]
    async with house(tmp_path, script(*steps), build=HastyHouse) as coder:
        await coder.create("default")
        await coder.prompt("go")
        (ask,) = await coder.asks()
        assert isinstance(ask, PermissionAsk)
        assert (ask.need.tool, ask.need.command, ask.need.background) == ("bash", RUNS, True)
        head = (await coder.events())[-1].seq
        await coder.answer(ask, Deny())
        again = (await coder.until(lambda event: isinstance(event, BatchOpened), after=head)).event
        assert not (coder.folder / "pid").exists()
        assert isinstance(again, BatchOpened)
        (second,) = [each.ask for each in again.judged if each.ask is not None]
        await coder.answer(second)
        assert (await coder.ended()).ending == "done"
        denied, started, seen = await outcomes(coder)
        assert isinstance(denied, Denied)
        assert isinstance(started, Finished)
        assert isinstance(seen, Finished)
        assert is_alive(await pid_in(coder.folder))


@story
async def test_d17_it_is_listed_and_stopped_from_another_process(tmp_path: Path) -> None:
    steps = [proposes(in_background("trap '' TERM; " + RUNS.replace("exec ", ""))), says("started")]
    async with house(tmp_path, script(*steps), build=HastyHouse) as one, house(tmp_path, script()) as other:
        await one.prompt("go")
        await one.ended()
        pid = await pid_in(one.folder)
        other.session = one.session
        (row,) = await other.host.get(ListBackground(one.session))
        assert (row.id, row.end) == ("1", None)
        assert (await other.host.get(ShowSession(one.session))).background == 1
        assert isinstance(await stop(other), Accepted)
        await other.until(is_end)
        assert not is_alive(pid)
        assert await ends(other) == [("1", StoppedBy(ME))]
        assert await other.host.get(ListBackground(one.session)) == [
            BackgroundRow(ONE, row.command, row.started_at, StoppedBy(ME))
        ]
        assert (await other.host.get(ShowSession(one.session))).background == 0
        assert isinstance(await stop(one), Unchanged)
        assert isinstance(await stop(other), Unchanged)


@story
async def test_d17_the_agent_of_another_process_stops_it_too(tmp_path: Path) -> None:
    """The next turn runs elsewhere, while the process that has the command lives."""
    first = script(proposes(in_background(RUNS)), says("started"))
    second = script(proposes(output_of("1")), proposes(stop_of("1")), says("stopped"))
    async with house(tmp_path, first, build=TiredHouse) as one:
        await one.prompt("go")
        await one.ended()
        pid = await pid_in(one.folder)
        (one.folder / "tired").touch()
        async with house(tmp_path, second) as other:
            other.session = one.session
            await other.prompt("stop it")
            await other.ended(2)
            _, seen, stopped = await texts(other)
            where = "in another process of coder: its output cannot be read here."
            assert seen == f"Background command 1 ({RUNS}) still runs, {where}"
            assert stopped.startswith(f"Background command 1 ({RUNS}) was stopped by the agent")
            assert not is_alive(pid)


@story
async def test_d17_closing_the_host_ends_them_all_and_the_next_process_tells_the_model(tmp_path: Path) -> None:
    steps = [proposes(in_background(RUNS)), proposes(in_background("sleep 602")), says("started")]
    async with house(tmp_path, script(*steps), build=HastyHouse) as coder:
        await coder.prompt("go")
        await coder.ended()
        pid, session = await pid_in(coder.folder), coder.session
    assert not is_alive(pid)
    async with house(tmp_path, script(proposes(in_background("sleep 603")), says("ok"), says("ok"))) as coder:
        coder.session = session
        assert sorted(await ends(coder)) == [("1", Gone()), ("2", Gone())]
        await coder.prompt("and now?")
        await coder.ended(2)
        told = str(coder.server.requests[0]["messages"][-1]["content"])
        for command in (f"1 ({RUNS})", "2 (sleep 602)"):
            assert (
                f"<background>background command {command} ended because the process that ran it ended.</background>"
                in told
            )
        await coder.prompt("again")
        await coder.ended(3)
        assert "<background>" not in str(coder.server.requests[-1]["messages"][-1]["content"])
        (last,) = [row for row in await coder.host.get(ListBackground(session)) if row.end is None]
        assert (last.id, last.command) == ("3", "sleep 603")  # no number is used twice


@pytest.mark.quick
@story
async def test_c11_the_model_is_told_once_of_one_that_ended_between_two_steps(tmp_path: Path) -> None:
    waits = "while [ ! -e more ]; do sleep 0.01; done; exit 5"
    steps = [proposes(in_background(waits)), says("started"), says("I see"), says("ok")]
    async with house(tmp_path, script(*steps), build=HastyHouse) as coder:
        await coder.prompt("go")
        await coder.ended()
        (coder.folder / "more").touch()
        await coder.until(is_end)
        await coder.prompt("what now?")
        await coder.ended(2)
        await coder.prompt("and now?")
        await coder.ended(3)
        note = f"<background>background command 1 ({waits}) ended with exit code 5.</background>"
        said = [str(each["content"]) for each in coder.server.requests[-1]["messages"] if each["role"] == "user"]
        assert [note in each for each in said] == [False, True, False]
        for before, after in zip(coder.server.requests, coder.server.requests[1:], strict=False):
            assert after["messages"][: len(before["messages"])] == before["messages"]


@story
async def test_d17_deleting_the_session_ends_it(tmp_path: Path) -> None:
    steps = [proposes(in_background(RUNS)), says("started")]
    async with house(tmp_path, script(*steps), build=HastyHouse) as one, house(tmp_path, script()) as other:
        await one.prompt("go")
        await one.ended()
        pid = await pid_in(one.folder)
        other.session = one.session
        await other.delete()
        await eventually(lambda: not is_alive(pid))


@story
async def test_d17_stopping_a_turn_leaves_it_running(tmp_path: Path) -> None:
    steps = [proposes(in_background(RUNS)), hangs(says("never"), 0)]
    async with house(tmp_path, script(*steps), build=HastyHouse) as coder:
        await coder.prompt("go")
        pid = await pid_in(coder.folder)
        await coder.until(lambda event: isinstance(event, CallEnded))
        await coder.stop()
        assert (await coder.ended()).ending == "stopped"
        assert is_alive(pid)
        assert await ends(coder) == []


@story
async def test_d17_a_stop_while_it_starts_ends_it(tmp_path: Path) -> None:
    """Nobody knows its number yet."""
    async with house(tmp_path, script(proposes(in_background(RUNS))), build=WatchingHouse) as coder:
        await coder.prompt("go")
        pid = await pid_in(coder.folder)
        await coder.stop()
        assert (await coder.ended()).ending == "stopped"
        assert not is_alive(pid)
        assert await coder.host.get(ListBackground(coder.session)) == []


@story
async def test_d17_only_so_many_run_at_once(tmp_path: Path) -> None:
    starts = [proposes(*(in_background(f"exec sleep 6{each:02}") for each in range(17)))]
    steps = [*starts, proposes(stop_of("3")), proposes(in_background("exec sleep 700")), says("ok")]
    async with house(tmp_path, script(*steps), build=HastyHouse) as coder:
        await coder.prompt("go")
        await coder.ended()
        told = await texts(coder)
        assert told[15] == "It runs in the background as number 16."
        assert told[16].startswith("16 commands run in the background already: 1 (exec sleep 600), 2 (")
        assert told[18] == "It runs in the background as number 17."
        assert (await coder.host.get(ShowSession(coder.session))).background == 16


@story
async def test_d17_what_nobody_looks_at_is_capped(tmp_path: Path) -> None:
    floods = "while [ ! -e go ]; do sleep 0.01; done; seq 1 200000; echo the end; touch full; exec sleep 600"
    steps = [proposes(in_background(floods)), says("ok"), proposes(output_of("1")), says("ok")]
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "config.json").write_text('{"bash": {"output_bytes": 1000}}')
    async with house(tmp_path, script(*steps), build=HastyHouse) as coder:
        await coder.prompt("go")
        await coder.ended()
        (coder.folder / "go").touch()
        await eventually((coder.folder / "full").exists)
        await coder.prompt("look")
        await coder.ended(2)
        _, seen = await texts(coder)
        _, _, shown = seen.partition("\n")
        assert shown.startswith("1\n2\n3\n")
        assert shown.endswith("\nthe end")
        assert re.findall(r"\[\d+ bytes left out\]", shown) == ["[1287903 bytes left out]"]


@story
async def test_a_secret_that_is_written_in_two_halves_is_hidden_in_both_looks(tmp_path: Path) -> None:
    first, second = "ghp_Zk3vQ9xT7bLm2Rw8", "Yc5Nf1Hd6Gs4Jp0AeUiO"
    halves = "echo begin; cat first; touch half; until [ -e go ]; do sleep 0.01; done; cat second; touch all"
    steps = [
        proposes(in_background(f"{halves}; sleep 1000")),
        proposes(bash("until [ -e half ]; do sleep 0.01; done")),
        proposes(output_of("1")),
        proposes(bash("touch go; until [ -e all ]; do sleep 0.01; done")),
        proposes(output_of("1")),
        says("done"),
    ]
    async with house(tmp_path, script(*steps), build=HastyHouse) as coder:
        (coder.folder / "first").write_text(first)
        (coder.folder / "second").write_text(f"{second}\n")
        await coder.prompt("go")
        await coder.ended()
        said = "\n".join(await texts(coder))
        assert first not in said
        assert second not in said
        assert "begin" in said
        assert "[hidden secret: github token]" in said
