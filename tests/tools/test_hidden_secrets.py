"""Secrets that tools come across are neither stored nor shown nor sent, and stay in their files."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from coderelay.app import House
from coderelay.config.load import Config, load
from coderelay.protocol.asks import Allow, PermissionAsk
from coderelay.protocol.calls import Failed
from coderelay.protocol.events import CallEnded
from coderelay.testing.command import Coder
from coderelay.testing.house import InHouse, house, story
from coderelay.testing.model_server import ModelServerThread, bash, call, proposes, read, says, script, write
from tests.conftest import Serve
from tests.tools.scene import lay_out

TOKEN = "ghp_Zk3vQ9xT7bLm2Rw8Yc5Nf1Hd6Gs4Jp0AeUiO"
OWN = "own-key-4711"
DOTENV = f"# settings\nGITHUB_TOKEN={TOKEN}\nPORT=1\n"
HIDDEN = "[hidden secret: github token]"


def keyed(config: Config, env: Mapping[str, str]) -> House:
    """A house whose own key is worth something."""
    own = {**env, "OPENAI_API_KEY": OWN}
    return House(load(own), own)


async def everything(coder: InHouse) -> str:
    """Whatever was stored, and whatever was sent."""
    stored = [msgspec.json.encode(each).decode() for each in await coder.events()]
    sent = [msgspec.json.encode(each).decode() for each in coder.server.requests]
    return "\n".join([*stored, *sent])


def files_of(root: Path) -> bytes:
    return b"".join(path.read_bytes() for path in root.rglob("*") if path.is_file())


@pytest.mark.quick
@story
async def test_keys_in_files_and_output_are_not_stored_and_not_sent(tmp_path: Path) -> None:
    steps: list[Any] = [
        proposes(read(".env"), call("grep", pattern="TOKEN", path=".env")),
        proposes(bash(f"cat .env; echo {OWN[:6]}{OWN[6:]} >&2; exit 3")),
        says("done"),
    ]
    async with house(tmp_path, script(*steps), build=keyed) as coder:
        lay_out(coder.folder, {".env": DOTENV, "AGENTS.md": f"Use {TOKEN} to push.\n"})
        await coder.prompt("go")
        await coder.ended()
        told = await everything(coder)
        assert TOKEN not in told
        assert told.count(HIDDEN) >= 4
        ends = [each.event.outcome for each in await coder.events() if isinstance(each.event, CallEnded)]
        assert isinstance(ends[2], Failed)
        assert ends[2].message.endswith("[hidden secret: configured]")
    assert TOKEN.encode() not in files_of(tmp_path / "home")


@story
async def test_a_secret_is_not_written_over_by_what_stands_for_it(tmp_path: Path) -> None:
    around = call("edit", path=".env", old="PORT=1", new="PORT=2")
    over = call("edit", path=".env", old=f"GITHUB_TOKEN={HIDDEN}", new="GITHUB_TOKEN=")
    steps = [
        proposes(read(".env")),
        proposes(write(".env", f"GITHUB_TOKEN={HIDDEN}\nPORT=2\n")),
        proposes(over),
        proposes(around),
        says("done"),
    ]
    async with house(tmp_path, script(*steps)) as coder:
        lay_out(coder.folder, {".env": DOTENV})
        await coder.prompt("go")
        await coder.ended()
        ends = [each.event.outcome for each in await coder.events() if isinstance(each.event, CallEnded)]
        refused = [each.message for each in ends if isinstance(each, Failed)]
        assert refused == [
            "[hidden secret: …] stands for a secret that was not shown to you; leave those lines as they are "
            "(change others with edit), or ask the person",
            "old is not in .env: what is hidden there is a secret; choose lines without one",
        ]
        assert (coder.folder / ".env").read_text() == DOTENV.replace("PORT=1", "PORT=2")


@story
async def test_the_diff_a_person_is_shown_has_no_secrets_around_the_change(tmp_path: Path) -> None:
    steps = [proposes(call("edit", path=".env", old="PORT=1", new="PORT=2")), says("done")]
    async with house(tmp_path, script(*steps)) as coder:
        lay_out(coder.folder, {".env": DOTENV})
        await coder.create("default")
        await coder.prompt("go")
        [ask] = await coder.asks()
        assert isinstance(ask, PermissionAsk)
        assert ask.need.diff == (
            f"--- a/.env\n+++ b/.env\n@@ -1,3 +1,3 @@\n # settings\n GITHUB_TOKEN={HIDDEN}\n-PORT=1\n+PORT=2\n"
        )
        await coder.answer(ask, Allow())
        await coder.ended()
        assert (coder.folder / ".env").read_text() == DOTENV.replace("PORT=1", "PORT=2")


def test_commands_see_none_of_our_keys_even_in_proc(
    serve: Serve, coder_on: Callable[[ModelServerThread], Coder]
) -> None:
    looks = "(env; cat /proc/[0-9]*/environ 2>/dev/null) | tr '\\0' '\\n' | grep -c own-key; true"
    server = serve(script(proposes(bash(looks)), says("done")))
    ran = coder_on(server).run("-p", "go", "--mode", "yolo", env={"OPENAI_API_KEY": OWN})
    assert ran.code == 0
    assert server.requests[-1]["messages"][-1]["content"] == "0"
