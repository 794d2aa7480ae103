"""MCP servers that are child processes, good and bad ones."""

import asyncio
import json
import re
import sys
from pathlib import Path

import pytest

from coderelay.config.settings import McpServerConfig
from coderelay.protocol.calls import Finished, Need
from coderelay.protocol.message_content import Image
from coderelay.tools.mcp.restarting_server import ServerLimits
from coderelay.tools.mcp.server_settings import mark_of
from tests.mcp.mcp_scene import Clock, double, in_loop, is_running, mcp_scene, until
from tests.mcp.stdio_double import PIXEL
from tests.models.raw_server import settle

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.quick
@in_loop
async def test_c32_a_tool_of_a_server_is_used_like_any_other(tmp_path: Path) -> None:
    async with mcp_scene(tmp_path, "good") as scene:
        need = scene.tools.need("mcp__good__echo", x="hello", deep={"n": [1, 2.50]})
        said = await scene.tools.run("mcp__good__echo", x="hello", deep={"n": [1, 2.50]})

    shown = '{"x":"hello","deep":{"n": [1, 2.5]}}'
    mark = mark_of(double("good", tmp_path / "notes.txt"), "")
    assert need == Need(
        tool="mcp__good__echo", kind="mcp", title=f"good: echo {shown}", server=mark, server_tool="echo"
    )
    assert json.loads(said) == {"x": "hello", "deep": {"n": [1, 2.5]}}


@in_loop
async def test_d14_what_a_server_says_of_its_harmlessness_changes_nothing(tmp_path: Path) -> None:
    """The double says of every tool that it only reads."""
    async with mcp_scene(tmp_path, "good") as scene:
        assert {scene.tools.need(name).kind for name in scene.names} == {"mcp"}
        spec = scene.servers.tools[0].spec

    assert spec.parameters == {"type": "object", "properties": {"x": {"type": "string"}}}


@in_loop
async def test_results_of_every_kind(tmp_path: Path) -> None:
    async with mcp_scene(tmp_path, "good") as scene:
        picture = await scene.tools.outcome("mcp__good__picture")
        false_picture = await scene.tools.run("mcp__good__false_picture")
        parts = await scene.tools.run("mcp__good__parts")
        structured = await scene.tools.run("mcp__good__structured")
        half = await scene.tools.run("mcp__good__half")
        chatty = await scene.tools.run("mcp__good__chat")
        long = await scene.tools.run("mcp__good__long")
        failed = await scene.tools.refused("mcp__good__fail")

    assert picture == Finished(output="1 image", summary="1 image", images=(Image("image/png", PIXEL),))
    assert false_picture == "[image/png, 8 characters of base64, which cannot be shown]"
    assert parts.splitlines() == [
        "one",
        "note://2:",
        "two",
        "[three: note://3]",
        "[audio/wav, 4 characters of base64, which cannot be shown]",
        "[note://4: application/zip, which cannot be shown]",
        "[hologram, which cannot be shown]",
    ]
    assert structured == '{"degrees":21}'
    assert half == "half \ufffd of it"
    assert chatty == "done"
    assert (len(long), long[-2:], "[10001 characters left out]" in long) == (50_029, "az", True)
    assert failed == "the oven is cold"


@in_loop
async def test_a_server_sees_its_own_variables_and_none_of_our_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-never")
    async with mcp_scene(tmp_path, "good") as scene:
        lines = (await scene.tools.run("mcp__good__environment")).splitlines()

    assert f"DOUBLE_NOTES={tmp_path / 'notes.txt'}" in lines
    assert [line for line in lines if "sk-never" in line] == []


@in_loop
async def test_what_a_server_may_ask_of_us(tmp_path: Path) -> None:
    async with mcp_scene(tmp_path, "good") as scene:
        roots = json.loads(await scene.tools.run("mcp__good__ask_roots"))
        model = json.loads(await scene.tools.run("mcp__good__ask_model"))
        person = json.loads(await scene.tools.run("mcp__good__ask_person"))

    assert roots["result"] == {"roots": [{"uri": tmp_path.as_uri(), "name": tmp_path.name}]}
    assert model["error"] == {"code": -32601, "message": "sampling/createMessage is not offered here"}
    assert person["result"] == {"action": "decline"}


@in_loop
async def test_resources_and_prompts(tmp_path: Path) -> None:
    async with mcp_scene(tmp_path, "good") as scene:
        server = scene.servers.servers["good"]
        resources = [(each.uri, each.name) for each in await server.resources()]
        contents = [(each.uri, each.text) for each in await server.read("note://1")]
        prompts = [(each.name, [argument.name for argument in each.arguments]) for each in await server.prompts()]
        messages = [(each.role, each.content.text) for each in await server.prompt("greet", {"who": "Ann"})]

    assert resources == [("note://1", "first")]
    assert contents == [("note://1", "remember the milk")]
    assert prompts == [("greet", ["who"])]
    assert messages == [("user", "Greet Ann.")]


@in_loop
async def test_bad_servers_leave_a_note_and_the_good_one_its_tools(tmp_path: Path) -> None:
    missing = {"absent": McpServerConfig(command="no-such-program")}
    bad = ("dies", "floods", "rubbish", "endless", "future")
    async with mcp_scene(tmp_path, *bad, "good", settings=missing) as scene:
        assert scene.servers.notes == [
            "MCP server absent ended with exit code 127; it said:\nno-such-program: No such file or directory",
            "MCP server dies ended with exit code 3; it said:\nno database to be found",
            "MCP server endless sent a message of more than 16 MiB",
            "MCP server floods sent more than 10000 messages that nobody asked for",
            "MCP server future speaks version 2099-01-01 of the protocol, which coder does not support",
            "MCP server rubbish sends what are no messages",
        ]
        assert {name.split("__")[1] for name in scene.names} == {"good"}
        assert await scene.tools.run("mcp__good__echo", x="1") == '{"x": "1"}'
        pids = scene.pids()

    assert len(pids) == 2  # of the good one, and of the one from the future
    assert [pid for pid in pids if is_running(pid)] == []


@in_loop
async def test_a_server_that_hangs_is_not_waited_for_longer_than_patience(tmp_path: Path) -> None:
    async with mcp_scene(tmp_path, "hangs", limits=ServerLimits(start=3600.0, step_wait_seconds=0.05)) as scene:
        assert scene.servers.notes == ["MCP server hangs is still starting"]
        await scene.servers.ready()  # not waited for again
        assert scene.names == []


@in_loop
async def test_a_server_that_hangs_is_given_up(tmp_path: Path) -> None:
    """It may be so slow that it has not even said what it waits for. It is tried again, but not waited for."""
    async with mcp_scene(tmp_path, "hangs", limits=ServerLimits(step_wait_seconds=3600.0, start=2.0)) as scene:
        [note] = scene.servers.notes
        await scene.servers.ready()
        await settle()
        assert scene.servers.servers["hangs"].is_starting

    assert note.partition(";")[0] in (
        "MCP server hangs did not start within 2 s",
        "MCP server hangs is still starting",
    )


@in_loop
async def test_a_slow_server_has_its_tools_in_a_later_step(tmp_path: Path) -> None:
    async with mcp_scene(tmp_path, "good", limits=ServerLimits(step_wait_seconds=0.0, start=3600.0)) as scene:
        assert scene.names == []
        await until(lambda: not scene.servers.servers["good"].is_starting)

        assert scene.servers.notes == []
        assert len(scene.names) == 17


@in_loop
async def test_a_server_with_200_tools_leaves_room_for_others(tmp_path: Path) -> None:
    async with mcp_scene(tmp_path, "many", "good") as scene:
        names, notes = scene.names, scene.servers.notes

    assert names[17:] == [f"mcp__many__tool_{number:03}" for number in range(83)]
    assert notes == ["MCP server many has 200 tools; 83 of them are offered"]


@in_loop
async def test_tools_are_the_same_objects_until_the_list_changes(tmp_path: Path) -> None:
    async with mcp_scene(tmp_path, "good") as scene:
        before = scene.servers.tools
        await scene.servers.ready()
        assert scene.servers.tools is before
        assert scene.names == sorted(scene.names)

        await scene.tools.run("mcp__good__grow")
        await scene.servers.ready()
        assert set(scene.names) - {each.spec.name for each in before} == {"mcp__good__grown"}


@in_loop
async def test_a_server_that_dies_in_a_call_is_started_again_by_the_next_one(tmp_path: Path) -> None:
    async with mcp_scene(tmp_path, "good") as scene:
        names = scene.names
        died = await scene.tools.refused("mcp__good__die")
        await scene.servers.ready()
        await settle()
        assert (scene.names, scene.servers.servers["good"].is_starting) == (names, False)
        again = await scene.tools.run("mcp__good__echo", x="1")

        assert scene.said().count("died") == 1
        assert len(scene.pids()) == 2

    assert died == (
        "the MCP server good ended with exit code 4; it said:\nout of paper\n"
        "The call may have run; check before repeating it."
    )
    assert again == '{"x": "1"}'


@in_loop
async def test_a_server_that_always_dies_is_started_a_few_times_only(tmp_path: Path) -> None:
    limits = ServerLimits(step_wait_seconds=3600.0, start=60.0, starts=2, starts_within=3600.0)
    async with mcp_scene(tmp_path, "good", limits=limits) as scene:
        for _ in range(2):
            await scene.tools.refused("mcp__good__die")
        refused = await scene.tools.refused("mcp__good__echo")

        assert len(scene.pids()) == 2

    assert refused == (
        "the MCP server good was started 2 times in 3600 s; at last it ended with exit code 4; it said:\nout of paper"
    )


@in_loop
async def test_a_call_that_takes_too_long_is_given_up_and_the_server_told(tmp_path: Path) -> None:
    async with mcp_scene(
        tmp_path, "good", limits=ServerLimits(step_wait_seconds=3600.0, start=3600.0, call=1000.0, ping=3600.0)
    ) as scene:
        clock = Clock()
        call = asyncio.ensure_future(scene.tools.refused("mcp__good__hang"))
        await scene.until_said("hanging")
        clock.advance(1000)
        refused = await call
        await scene.until_said("it took too long")

        [pid] = scene.pids()
        assert is_running(pid)  # it answers pings, so it lives on

    assert re.sub("[0-9]+", "N", refused) == (
        "the MCP server good did not answer within N s\nThe call may have run; check before repeating it."
    )


@in_loop
async def test_a_server_that_does_not_even_answer_a_ping_is_ended(tmp_path: Path) -> None:
    async with mcp_scene(
        tmp_path, "good-but-deaf", limits=ServerLimits(step_wait_seconds=3600.0, start=3600.0, call=1000.0, ping=0.1)
    ) as scene:
        clock = Clock()
        call = asyncio.ensure_future(scene.tools.refused("mcp__good-but-deaf__hang"))
        await scene.until_said("hanging")
        clock.advance(1000)
        await call

        [pid] = scene.pids()
        assert not is_running(pid)
        assert await scene.tools.run("mcp__good-but-deaf__echo", x="1") == '{"x": "1"}'


@in_loop
async def test_a_stopped_turn_cancels_its_call(tmp_path: Path) -> None:
    async with mcp_scene(tmp_path, "good") as scene:
        call = asyncio.ensure_future(scene.tools.run("mcp__good__hang"))
        await scene.until_said("hanging")
        call.cancel()
        await scene.until_said("it is not wanted any more")

        assert call.cancelled()
        assert await scene.tools.run("mcp__good__echo", x="1") == '{"x": "1"}'


@in_loop
async def test_progress_gives_a_call_more_time(tmp_path: Path) -> None:
    limits = ServerLimits(step_wait_seconds=3600.0, start=3600.0, call=1000.0, call_with_progress=5000.0)
    async with mcp_scene(tmp_path, "good", limits=limits) as scene:
        clock = Clock()
        call = asyncio.ensure_future(scene.tools.run("mcp__good__progress"))
        await scene.until_said("working")
        clock.advance(900)
        (tmp_path / "report").touch()
        await scene.until_said("reported")
        clock.advance(900)
        (tmp_path / "finish").touch()
        assert await call == "at last"


@in_loop
async def test_progress_does_not_give_a_call_all_the_time(tmp_path: Path) -> None:
    limits = ServerLimits(step_wait_seconds=3600.0, start=3600.0, call=1000.0, call_with_progress=1500.0, ping=3600.0)
    async with mcp_scene(tmp_path, "good", limits=limits) as scene:
        clock = Clock()
        call = asyncio.ensure_future(scene.tools.refused("mcp__good__progress"))
        await scene.until_said("working")
        clock.advance(900)
        (tmp_path / "report").touch()
        await scene.until_said("reported")
        clock.advance(700)
        (tmp_path / "finish").touch()
        assert "did not answer within 1" in await call


@in_loop
async def test_calls_at_the_same_time_get_their_own_answers(tmp_path: Path) -> None:
    async with mcp_scene(tmp_path, "good") as scene:
        said = await asyncio.gather(*(scene.tools.run("mcp__good__echo", x=str(n)) for n in range(20)))

    assert [json.loads(each)["x"] for each in said] == [str(n) for n in range(20)]


@in_loop
async def test_an_older_version_is_spoken_too(tmp_path: Path) -> None:
    async with mcp_scene(tmp_path, "old") as scene:
        assert await scene.tools.run("mcp__old__echo", x="1") == '{"x": "1"}'


SHELL = 'setsid sleep 3600 >&2 & echo "started $!" >>"$DOUBLE_NOTES"; "$@"; true'


@in_loop
async def test_nothing_of_a_server_is_left_when_it_is_closed(tmp_path: Path) -> None:
    """It was started through a shell, and left another process behind in a session of its own."""
    good = double("good", tmp_path / "notes.txt")
    shell = McpServerConfig(command="bash", args=("-c", SHELL, "bash", good.command or "", *good.args), env=good.env)
    async with mcp_scene(tmp_path, settings={"good": shell}) as scene:
        pids = scene.pids()
        assert [is_running(pid) for pid in pids] == [True, True]

    assert [is_running(pid) for pid in pids] == [False, False]


OWNER = """
import asyncio, pathlib, sys
from tests.mcp.mcp_scene import mcp_scene

async def main():
    async with mcp_scene(pathlib.Path(sys.argv[1]), "good"):
        print("ready", flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


@in_loop
async def test_a_server_ends_with_an_owner_that_is_killed(tmp_path: Path) -> None:
    pipe = asyncio.subprocess.PIPE
    owner = await asyncio.create_subprocess_exec(sys.executable, "-c", OWNER, str(tmp_path), stdout=pipe, cwd=ROOT)
    assert owner.stdout is not None
    assert await owner.stdout.readline() == b"ready\n"
    pid = int((tmp_path / "notes.txt").read_text().split()[1])
    assert is_running(pid)

    owner.kill()
    await owner.wait()
    await until(lambda: not is_running(pid))
