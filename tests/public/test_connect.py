"""`coderelay.connect()`, both ways, and the examples as a person would run them."""

import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from pathlib import Path

import pytest

import coderelay
from coderelay.protocol.commands import Accepted, Answered
from coderelay.protocol.errors import UnknownSession
from coderelay.protocol.events import Recorded, TurnEnded
from coderelay.protocol.ids import SessionId
from coderelay.protocol.live_updates import Live
from tests.coder_process import Coder
from tests.conftest import Serve
from tests.house import story
from tests.model_server import ModelServerThread, bash, proposes, says, script, write

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
CoderOn = Callable[[ModelServerThread], Coder]


@pytest.fixture
def here(coder_on: CoderOn, monkeypatch: pytest.MonkeyPatch) -> Callable[[ModelServerThread], Coder]:
    """The environment of a script that runs in the folder."""

    def enter(server: ModelServerThread) -> Coder:
        coder = coder_on(server)
        for name, value in coder.env.items():
            monkeypatch.setenv(name, value)
        monkeypatch.chdir(coder.cwd)
        return coder

    return enter


def test_connect_works_without_an_event_loop(serve: Serve, here: CoderOn, folder: Path) -> None:
    here(serve(script(proposes(write("a", "x"), bash("touch b")), says("done"), says("again"))))
    with coderelay.connect(who="robot") as coder:
        session = coder.start("go")
        feed = coder.follow(session)
        while not (asks := coder.asks(session)):
            next(feed)
        feed.close()
        assert isinstance(coder.answer(asks[0], "allow"), Accepted)
        assert isinstance(coder.answer(asks[0], "deny"), Answered)
        coder.answer(asks[1], "deny")
        assert coder.wait(session).text == "done"
        coder.prompt(session, "more")
        assert coder.wait(session).text == "again"
        assert [each.id for each in coder.sessions(cwd=".")] == [session]
        coder.delete(session)
        with pytest.raises(UnknownSession):
            coder.wait(session)
    assert sorted(path.name for path in folder.glob("[!.]*")) == ["a"]


def test_a_script_follows_all_sessions(serve: Serve, here: CoderOn) -> None:
    here(serve(script(says("one"), says("two"))))
    with coderelay.connect(who="robot") as coder:
        first = coder.start("go")
        coder.wait(first)
        feed = coder.follow_all({first: 0})
        (told, event) = next(feed)
        assert (told, isinstance(event, Recorded) and event.seq) == (first, 1)
        second = coder.start("go")
        logs: dict[SessionId, list[int]] = {first: [1], second: []}
        ended: set[SessionId] = set()
        while ended != {first, second}:
            told, event = next(feed)
            if isinstance(event, Recorded):
                logs[told].append(event.seq)
                if isinstance(event.event, TurnEnded):
                    ended.add(told)
        feed.close()
        assert all(seqs == list(range(1, len(seqs) + 1)) for seqs in logs.values())


@pytest.mark.quick
def test_connect_works_inside_an_event_loop(serve: Serve, here: CoderOn) -> None:
    here(serve(script(says("one"), says("two"))))

    @story
    async def run() -> None:
        async with coderelay.connect() as coder:
            session = await coder.start("go")
            await coder.prompt(session, "more")
            assert (await coder.wait(session)).text == "two"
            events = [each async for each in _until_end(coder.follow(session))]
            assert events[0].seq == 1

    run()


async def _until_end(feed: AsyncGenerator[Recorded | Live, None]) -> AsyncGenerator[Recorded, None]:
    ended = 0
    async for each in feed:
        if isinstance(each, Recorded):
            yield each
            ended += isinstance(each.event, TurnEnded)
            if ended == 2:
                return


def test_a_session_of_a_script_goes_on_without_it(serve: Serve, here: CoderOn) -> None:
    coder = here(serve(script(proposes(write("a", "x")), says("done"))))
    with coderelay.connect(who="robot") as client:
        session = client.start("go")
        for _ in client.follow(session):
            if client.asks():
                break
    (line,) = coder.run("asks").out.splitlines()
    answered = coder.run("answer", line.split()[0], "allow")
    assert answered.out.endswith("done\n")


@pytest.mark.quick
def test_without_a_model_the_guide_answers(
    serve: Serve, here: CoderOn, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    here(serve(script()))
    monkeypatch.delenv("OPENAI_API_KEY")
    monkeypatch.setenv("HOME", str(tmp_path))
    with coderelay.connect() as coder:
        assert coder.wait(coder.start("hi")).text.startswith("No model is connected.")
    with coderelay.connect() as coder, pytest.raises(UnknownSession):
        coder.prompt(SessionId("nope"), "go")


@pytest.mark.quick
def test_the_example_that_answers(serve: Serve, coder_on: CoderOn, folder: Path) -> None:
    coder = coder_on(serve(script(proposes(write("haiku.txt", "x"), bash("touch b")), says("written"))))
    assert _example(coder, "answer_from_a_script.py", "write it") == "written\n"
    assert sorted(path.name for path in folder.glob("[!.]*")) == ["haiku.txt"]


def test_the_example_that_watches(serve: Serve, coder_on: CoderOn) -> None:
    coder = coder_on(serve(script(says("answer"), says("answer"))))
    out = _example(coder, "watch_every_session.py", "one", "two")
    assert sum(line.endswith(" answer") for line in out.splitlines()) == 2


def _example(coder: Coder, name: str, *arguments: str) -> str:
    ran = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments],
        cwd=coder.cwd,
        env=coder.env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout
