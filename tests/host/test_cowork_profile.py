"""X-01: the profile cowork is a property of the session, so all surfaces judge it alike (B-38, B-62)."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from coderelay.client.client import AT_THE_MACHINE, NO_CAPABILITIES, Capabilities
from coderelay.client.commands.modes_permissions_trust import permissions_in_words
from coderelay.client.commands.session_info import status_in_words
from coderelay.protocol.asks import Answers, Deny, PlanAsk, QuestionAsk
from coderelay.protocol.commands import ConfigureSession, CreateSession, ForkSession
from coderelay.protocol.errors import BadInput
from coderelay.protocol.events import AskOpened, CallStarted
from coderelay.protocol.ids import SessionId, new_id
from coderelay.protocol.modes import MODE_NAMES
from coderelay.protocol.queries import ListChildren, ListSessions, ListTools, ShowPermissions, ShowSession
from coderelay.protocol.session_setting_values import Mode
from coderelay.surfaces.terminal.live_region_view import LiveRegionView
from tests.children.conversations import task
from tests.children.test_parent_changes import Late
from tests.host.test_spending import budget_ask, costly
from tests.house import ME, InHouse, house, story
from tests.model_server import Call, bash, call, proposes, read, says, script, write

COWORK = Capabilities(profile="cowork")
QUESTION = call("ask_user", questions=[{"question": "Which?", "options": [{"label": "A"}], "multiSelect": False}])


def cowork(coder: InHouse, mode: Mode = "default", allowed: Sequence[str] = ()) -> CreateSession:
    coder.session = SessionId(new_id())
    return CreateSession(
        session=coder.session,
        cwd=str(coder.folder),
        model="openai:scripted",
        mode=mode,
        allowed_tools=tuple(allowed),
        profile="cowork",
        by=ME,
    )


async def create(coder: InHouse, mode: Mode = "default", allowed: Sequence[str] = ()) -> None:
    await coder.host.connect(COWORK).send(cowork(coder, mode, allowed))


def configure(root: Path, **keys: object) -> None:
    (root / "home").mkdir(exist_ok=True)
    (root / "home" / "config.json").write_text(json.dumps(keys))


SENSITIVE: list[Call] = [
    write("a", "x"),
    write("Makefile", "all:\n"),
    bash("CODER_NETWORK=1 true; rm -f a"),
    read(".env"),
]


@pytest.mark.parametrize("mode", [each for each in MODE_NAMES if each != "plan"])
@story
async def test_b38_b62_every_tool_is_allowed_and_questions_wait(tmp_path: Path, mode: Mode) -> None:
    async with house(tmp_path, script(proposes(*SENSITIVE), proposes(QUESTION), says("done"))) as coder:
        (coder.folder / ".env").write_text("KEY=1\n")
        await create(coder, mode, ["Read"])
        await coder.prompt("go")
        (ask,) = await coder.asks()
        assert isinstance(ask, QuestionAsk)
        await coder.answer(ask, Answers({"Which?": "A"}))
        await coder.ended()
        told = await coder.story()
        assert [line for line in told if "denied" in line.lower()] == []
        assert (coder.folder / "Makefile").read_text() == "all:\n"
        assert (await coder.host.get(ShowSession(coder.session))).allowed_tools == ("Read",)


@story
async def test_x01_without_the_profile_the_same_session_asks_and_enforces(tmp_path: Path) -> None:
    """The test above could pass for other reasons: this is the difference that the profile makes."""
    answers = script(proposes(write("a", "x")), proposes(bash("true")), says("done"))
    async with house(tmp_path, answers) as coder:
        await coder.host.send(replace(cowork(coder, allowed=["Write"]), profile=""))
        await coder.prompt("go")
        (ask,) = await coder.asks()
        await coder.answer(ask)
        await coder.ended()
        assert "bash: denied" in await coder.story()


@story
async def test_plan_mode_denies_as_ever_and_plans_are_approved_by_people(tmp_path: Path) -> None:
    async with house(tmp_path, script(proposes(write("a", "x")), proposes(call("plan_exit", plan="paint")))) as coder:
        await create(coder, "plan")
        await coder.prompt("go")
        (ask,) = [ask for ask in await _plan_ask(coder) if isinstance(ask, PlanAsk)]
        assert "write: denied" in await coder.story()
        assert not (coder.folder / "a").exists()
        await coder.answer(ask, Deny())


async def _plan_ask(coder: InHouse) -> Sequence[object]:
    event = (await coder.until(lambda event: isinstance(event, AskOpened) or _has_plan(event))).event
    return [event.ask] if isinstance(event, AskOpened) else [each.ask for each in getattr(event, "judged", ())]


def _has_plan(event: object) -> bool:
    return any(isinstance(getattr(each, "ask", None), PlanAsk) for each in getattr(event, "judged", ()))


@story
async def test_what_a_person_denies_stays_denied(tmp_path: Path) -> None:
    configure(tmp_path, permissions={"deny": ["bash(git push)", "edit(docs)"], "ask": ["edit(src)"]})
    calls = [bash("git push"), write("docs/a", "x"), write("src/a", "x"), bash("rm -rf /")]
    async with house(tmp_path, script(proposes(*calls), says("done"))) as coder:
        await create(coder)
        await coder.prompt("go")
        await coder.ended()
        assert await coder.story() == [
            "user: go",
            "bash: denied",
            "write: denied",
            "write: ok",
            "bash: denied",
            "agent: done",
        ]


@story
async def test_budget_asks_stay(tmp_path: Path) -> None:
    costly(tmp_path, {"session": 0.001})
    async with house(tmp_path, script(proposes(bash("true")), says("done"))) as coder:
        await create(coder)
        await coder.prompt("go")
        await coder.answer(await budget_ask(coder), Deny("enough"))
        await coder.ended()


@story
async def test_only_the_wiring_gives_the_profile(tmp_path: Path) -> None:
    async with house(tmp_path, script()) as coder:
        for capabilities in (NO_CAPABILITIES, AT_THE_MACHINE):
            client = coder.host.connect(capabilities)
            with pytest.raises(BadInput, match="may not start sessions with the profile cowork"):
                await client.send(cowork(coder))
        parent = await coder.create("default")
        child = replace(cowork(coder), parent=parent)
        with pytest.raises(BadInput):  # its parent has no profile
            await coder.host.send(child)
        assert len(await coder.host.get(ListSessions())) == 1


@story
async def test_a_child_has_the_profile_and_loses_it_with_its_parent(tmp_path: Path) -> None:
    async def leave(coder: InHouse) -> None:
        """What tightens counts at once."""
        for each in await coder.host.get(ListChildren(coder.session)):
            assert (each.profile, each.allowed_tools) == ("cowork", ())
        await coder.host.send(ConfigureSession(session=coder.session, profile="", by=ME, when="next_turn"))

    late, given = Late(proposes(write("b", "x"))), proposes(task("t", "work"))
    answers = script(given, proposes(write("Makefile", "all:\n")), late.answer, says("x"), says("done"))
    async with house(tmp_path, answers) as coder:
        await create(coder, "auto-edit", ["Read"])
        await coder.prompt("go")
        child = await late.after(coder, leave)
        await coder.ended()
        assert await child.story() == ["user: work", "write: ok", "write: denied", "agent: x"]
        rows = [await coder.host.get(ShowSession(each.session)) for each in (coder, child)]
        assert [each.profile for each in rows] == ["", ""]


@story
async def test_a_fork_begins_with_the_settings_of_its_session(tmp_path: Path) -> None:
    async with house(tmp_path, script(says("done"))) as coder:
        await create(coder)
        await coder.prompt("go")
        await coder.ended()
        fork = SessionId(new_id())
        await coder.host.send(ForkSession(session=coder.session, to=fork, by=ME))
        assert (await coder.host.get(ShowSession(fork))).profile == "cowork"


@story
async def test_leaving_the_profile_asks_about_calls_that_wait(tmp_path: Path) -> None:
    """And what is stored as allowed tools is enforced from then on."""
    calls = proposes(bash("until [ -e go ]; do sleep 0.01; done"), bash("touch late"), read("x"))
    async with house(tmp_path, script(calls, says("done"))) as coder:
        await create(coder, "default", ["Read"])
        await coder.prompt("go")
        await coder.until(lambda event: isinstance(event, CallStarted))
        await coder.host.send(ConfigureSession(session=coder.session, profile="", by=ME))
        (coder.folder / "go").touch()
        await coder.ended()
        assert (await coder.story())[1:3] == ["bash: ok", "bash: denied"]
        assert not (coder.folder / "late").exists()


@story
async def test_people_are_told_honestly(tmp_path: Path) -> None:
    async with house(tmp_path, script()) as coder:
        await create(coder, "default", ["Read"])
        shown = await coder.host.get(ShowPermissions(coder.session))
        assert [what for what, cell in shown.matrix if cell not in ("allow", "deny")] == []
        told = (
            "cowork (tools run without asking: the list of allowed tools and ask rules have no effect, deny rules do)"
        )
        assert f"mode: default\nprofile: {told}\n" in permissions_in_words(shown)
        assert "tools: " not in permissions_in_words(shown)
        assert f"profile     {told}" in await status_in_words(coder.host, coder.session)
        assert {each.off for each in await coder.host.get(ListTools(coder.session))} == {""}
        region = LiveRegionView(str(coder.folder))
        region.summary = await coder.host.get(ShowSession(coder.session))
        assert "cowork: tools run without asking" in region.status(200)
        await coder.host.send(ConfigureSession(session=coder.session, profile="", by=ME))
        region.summary = await coder.host.get(ShowSession(coder.session))
        assert "cowork" not in region.status(200)
        assert "profile" not in await status_in_words(coder.host, coder.session)
