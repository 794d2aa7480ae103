"""What is taken from a session while others work for it is taken from them too."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from coderelay.protocol.asks import Allow
from coderelay.protocol.calls import Denied, Finished
from coderelay.protocol.commands import Command, ConfigureSession, CreateSession, Outcome, RevokeApproval
from coderelay.protocol.queries import ListApprovals, ShowPermissions
from tests.children.conversations import answer, ask_of_child, child_opened, outcomes, seen_from, task
from tests.house import ME, InHouse, house, story
from tests.model_server import Answer, bash, proposes, read, replies, says, script, write

Change = Callable[[InHouse], Awaitable[object]]


class Late:
    """The answer of a child's model, which waits until something has changed."""

    def __init__(self, proposal: Answer) -> None:
        self.answer = replies(self._give)
        self._proposal = proposal
        self._begun, self._go = asyncio.Event(), asyncio.Event()

    async def _give(self, _: object) -> Answer:
        self._begun.set()
        await self._go.wait()
        return self._proposal

    async def after(self, coder: InHouse, change: Change) -> InHouse:
        """The child, which goes on now."""
        child = seen_from(coder, await child_opened(coder))
        await self._begun.wait()
        await change(coder)
        self._go.set()
        return child


def executable(coder: InHouse) -> None:
    path = coder.folder / "build.sh"
    path.write_text("#!/bin/sh\necho ran >> effects\n")
    path.chmod(0o755)


@story
async def test_a_command_whose_approval_is_revoked_runs_on_in_the_child(tmp_path: Path) -> None:
    async def revoke(coder: InHouse) -> None:
        (approval,) = await coder.host.get(ListApprovals(coder.session))
        await coder.host.send(RevokeApproval(session=coder.session, approval=approval.id, by=ME))

    late, build = Late(proposes(bash("./build.sh"))), proposes(bash("./build.sh"))
    answers = script(build, proposes(task("build", "build")), late.answer, says("x"), says("done"))
    async with house(tmp_path, answers) as coder:
        executable(coder)
        await coder.create("auto-edit")
        await coder.prompt("go")
        (ask,) = await coder.asks()
        await coder.answer(ask, Allow("session"))
        child = await late.after(coder, revoke)
        (asked,) = await child.asks()
        assert (coder.folder / "effects").read_text() == "ran\n"
        await child.stop()
        await coder.ended()
        assert asked.id != ask.id


@story
async def test_what_was_approved_in_the_child_itself_stays_so(tmp_path: Path) -> None:
    async def change(coder: InHouse) -> None:
        await coder.host.send(ConfigureSession(session=coder.session, allowed_tools=("bash", "task"), by=ME))

    late, build = Late(proposes(bash("./build.sh"))), proposes(bash("./build.sh"))
    async with house(
        tmp_path, script(proposes(task("build", "build")), build, late.answer, says("built"), says("done"))
    ) as coder:
        executable(coder)
        await coder.create("auto-edit")
        await coder.prompt("go")
        await answer(coder, await ask_of_child(coder), Allow("session"))
        child = await late.after(coder, change)
        await coder.ended()
        assert [type(each) for each in await outcomes(child)] == [Finished, Finished]


@pytest.mark.parametrize(
    ("before", "after", "of_child"),
    [
        ((), ("read",), ("read",)),
        (("Edit", "Bash"), ("edit",), ("edit", "patch", "write")),
        (("read", "write"), ("read",), ("read",)),
        (("mcp__a",), ("mcp__a__x",), ("mcp__a__x",)),
        (("bash",), ("read",), ("todo",)),
        (("read",), (), ("read",)),
    ],
)
def test_a_child_uses_tools_that_are_forbidden_now(
    tmp_path: Path, before: tuple[str, ...], after: tuple[str, ...], of_child: tuple[str, ...]
) -> None:
    """Both lists count, whatever names they use; and if they have nothing in common, nothing is allowed."""

    @story
    async def tell() -> None:
        async def narrow(coder: InHouse) -> None:
            await coder.host.send(ConfigureSession(session=coder.session, allowed_tools=after, by=ME))

        late = Late(proposes(bash("touch out.txt")))
        async with house(tmp_path, script(proposes(task("w", "w")), late.answer, says("x"), says("done"))) as coder:
            await coder.create("yolo")
            given = (*before, "task") if before else ()
            await coder.host.send(ConfigureSession(session=coder.session, allowed_tools=given, by=ME))
            await coder.prompt("go")
            child = await late.after(coder, narrow)
            await coder.ended()
            shown = await coder.host.get(ShowPermissions(child.session))
            assert tuple(each for each in shown.allowed_tools if each != "task") == of_child
            told = "bash is not allowed in this session"
            assert await outcomes(child) == [Denied(told)]
            assert not (coder.folder / "out.txt").exists()

    tell()


@pytest.mark.parametrize("mode", ["auto-edit", "yolo"])
@story
async def test_a_child_writes_where_its_parent_may_not_be_any_more(tmp_path: Path, mode: str) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "a.txt").write_text("a\n")

    async def take_away(coder: InHouse) -> None:
        await coder.host.send(ConfigureSession(session=coder.session, folders=(), by=ME))

    paths = [str(other / "out.txt"), str(other / "a.txt")]
    late = Late(proposes(write(paths[0], "x"), read(paths[1])))
    async with house(tmp_path, script(proposes(task("w", "w")), late.answer, says("x"), says("done"))) as coder:
        await coder.create("yolo" if mode == "yolo" else "auto-edit")
        await coder.host.send(ConfigureSession(session=coder.session, folders=(str(other),), by=ME))
        await coder.prompt("go")
        child = await late.after(coder, take_away)
        await coder.ended()
        assert await outcomes(child) == [Denied(f"{each} is no longer in the session's folders") for each in paths]
        assert not (other / "out.txt").exists()


@story
async def test_a_parent_becomes_stricter_while_its_child_is_created(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = script(proposes(task("w", "w")), proposes(write("out.txt", "x")), says("x"), says("done"))
    async with house(tmp_path, answers) as coder:
        real = coder.host.send

        async def send(command: Command) -> Outcome:
            if isinstance(command, CreateSession) and command.parent is not None:
                await real(ConfigureSession(session=coder.session, mode="default", by=ME))
            return await real(command)

        await coder.create("yolo")
        monkeypatch.setattr(coder.host, "send", send)
        await coder.prompt("go")
        child = seen_from(coder, await child_opened(coder))
        await coder.ended()
        assert await outcomes(child) == [Denied("write changes files (plan mode)")]
