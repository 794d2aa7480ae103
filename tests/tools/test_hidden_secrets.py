"""Secrets that tools come across are neither stored nor shown nor sent, and stay in their files."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from coderelay.app import App
from coderelay.config.loaded_config import Config, load
from coderelay.protocol.asks import Allow, PermissionAsk
from coderelay.protocol.calls import Denied, Failed, Finished, Outcome
from coderelay.protocol.events import CallEnded
from coderelay.protocol.session_setting_values import Mode
from tests.coder_process import Coder
from tests.conftest import Serve
from tests.house import InHouse, house, story
from tests.model_server import ModelServerThread, bash, call, proposes, read, says, script, write
from tests.outcomes import in_english
from tests.tools.toolbox_scene import lay_out

TOKEN = "ghp_Zk3vQ9xT7bLm2Rw8Yc5Nf1Hd6Gs4Jp0AeUiO"
OWN = "own-key-4711"
DOTENV = f"# settings\nGITHUB_TOKEN={TOKEN}\nPORT=1\n"
HIDDEN = "[hidden secret: github token]"


def keyed(config: Config, env: Mapping[str, str]) -> App:
    """A house whose own key is worth something."""
    own = {**env, "OPENAI_API_KEY": OWN}
    return App(load(own), own)


async def everything(coder: InHouse) -> str:
    """Whatever was stored, and whatever was sent."""
    stored = [msgspec.json.encode(each).decode() for each in await coder.events()]
    sent = [msgspec.json.encode(each).decode() for each in coder.server.requests]
    return "\n".join([*stored, *sent])


def files_of(root: Path) -> bytes:
    return b"".join(path.read_bytes() for path in root.rglob("*") if path.is_file())


async def ends_of(coder: InHouse) -> list[Outcome]:
    return [in_english(each.event.outcome) for each in await coder.events() if isinstance(each.event, CallEnded)]


def configure(root: Path, **keys: Any) -> None:
    (root / "home").mkdir(exist_ok=True)
    (root / "home" / "config.json").write_text(json.dumps(keys))


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
        ends = [in_english(each.event.outcome) for each in await coder.events() if isinstance(each.event, CallEnded)]
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
        ends = [in_english(each.event.outcome) for each in await coder.events() if isinstance(each.event, CallEnded)]
        refused = [each.message for each in ends if isinstance(each, Failed)]
        assert refused == [
            "[hidden secret: …] stands for a secret that was not shown to you; leave those lines as they are "
            "(change others with edit), or ask the person",
            "the text to replace is not in .env: what is hidden there is a secret; choose lines without one",
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


PRIVATE = "NODE_ENV=production\nDB_PASSWORD=hunter2\nPIN=forty-7\n"
OLD = "NODE_ENV=production\nx\ny"
UNFIT = [
    call("edit", path=".env", old=OLD, new="z"),
    call("patch", patch="--- a/.env\n+++ b/.env\n@@ -1,3 +1,1 @@\n-NODE_ENV=production\n-x\n-y\n+z\n"),
]


@pytest.mark.parametrize("unfit", UNFIT, ids=["edit", "patch"])
@pytest.mark.parametrize("mode", ["plan", "default", "auto-edit"])
@story
async def test_a_change_that_does_not_fit_quotes_no_file_that_may_not_be_read(
    tmp_path: Path, mode: Mode, unfit: Any
) -> None:
    if mode == "plan":
        configure(tmp_path, **{"permissions.deny": ["read(.env)", "edit(.env)"]})
    async with house(tmp_path, script(proposes(unfit), says("done"))) as coder:
        lay_out(coder.folder, {".env": PRIVATE})
        await coder.create(mode)
        await coder.prompt("go")
        if mode == "default":
            [ask] = await coder.asks()
            await coder.answer(ask, Allow())
        await (coder.plan_asks() if mode == "plan" else coder.ended())
        [end] = await ends_of(coder)
        assert isinstance(end, Denied if mode == "plan" else Failed)
        told = await everything(coder)
        assert "hunter2" not in told
        assert "forty-7" not in told


@pytest.mark.parametrize("guess", ["DB_PASSWORD=hunter2", "DB_PASSWORD=hunter3"])
@story
async def test_whether_a_guess_is_in_a_file_that_may_not_be_read_is_not_told(tmp_path: Path, guess: str) -> None:
    configure(tmp_path, **{"permissions.deny": ["read(.env)", "edit(.env)"]})
    steps = [proposes(call("edit", path=".env", old=guess, new="z")), proposes(call("grep", pattern=guess)), says("")]
    async with house(tmp_path, script(*steps)) as coder:
        lay_out(coder.folder, {".env": PRIVATE})
        await coder.create("default")
        await coder.prompt("go")
        await coder.ended()
        assert await ends_of(coder) == [
            Denied("denied by the rule edit(.env)"),
            Finished(
                "no line matches\n(1 file left out: their reading must be asked about; give one as path)",
                "no matches",
            ),
        ]


@story
async def test_a_key_near_the_place_where_a_change_does_not_fit_is_hidden(tmp_path: Path) -> None:
    edit = call("edit", path="conf.py", old='KEY = "yours"\nDEBUG = True', new="x")
    async with house(tmp_path, script(proposes(edit), says("done"))) as coder:
        lay_out(coder.folder, {"conf.py": f'# settings\nKEY = "{TOKEN}"\nDEBUG = True\n'})
        await coder.create("default")
        await coder.prompt("go")
        await coder.ended()
        told = await everything(coder)
        assert TOKEN not in told
        assert f'2\\tKEY = \\"{HIDDEN}' in told


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ({"pattern": ".", "glob": ".env"}, "no line matches\n(1 file left out"),
        ({"pattern": "pw"}, "notes:1:no pw here\n(3 files left out"),
        ({"pattern": "pw", "path": "secrets"}, "no line matches\n(1 file left out"),
    ],
)
@story
async def test_grep_does_not_bring_what_would_be_asked_about_or_denied(
    tmp_path: Path, arguments: dict[str, str], shown: str
) -> None:
    configure(tmp_path, **{"permissions.deny": ["read(secrets/p*)"], "permissions.ask": ["read(*.pem)"]})
    async with house(tmp_path, script(proposes(call("grep", **arguments)), says("done"))) as coder:
        files = {".env": "pw=1\n", "secrets/prod": "pw=2\n", "a.pem": "pw=3\n", "notes": "no pw here\n"}
        lay_out(coder.folder, files)
        await coder.create("default")
        await coder.prompt("go")
        await coder.ended()
        [end] = await ends_of(coder)
        assert isinstance(end, Finished)
        assert end.output.startswith(shown)
        assert "pw=" not in await everything(coder)


@story
async def test_what_a_rule_allows_to_be_read_is_found_by_grep(tmp_path: Path) -> None:
    configure(tmp_path, **{"permissions.allow": ["read(.env)"]})
    async with house(tmp_path, script(proposes(call("grep", pattern="PIN")), says("done"))) as coder:
        lay_out(coder.folder, {".env": PRIVATE})
        await coder.create("default")
        await coder.prompt("go")
        await coder.ended()
        assert await ends_of(coder) == [Finished(".env:3:PIN=forty-7", "1 match in 1 file")]


@pytest.mark.parametrize("held", ["key-of-llm-4711", "s3cret/of:db", "s3cret%2Fof%3Adb"])
def test_configured_keys_are_hidden_whatever_their_variables_are_called(tmp_path: Path, held: str) -> None:
    env = {
        "CODER_HOME": str(tmp_path / "home"),
        "CODER_DATABASE_URL": "postgresql://coder:s3cret%2Fof%3Adb@db/log",
        "LLM": "key-of-llm-4711",
    }
    providers = {"mine": {"kind": "openai-chat", "base_url": "http://localhost:1/v1", "api_key_env": "LLM"}}
    configure(tmp_path, providers=providers)
    rooms = App(load(env), env)
    rooms.folders.of(str(tmp_path))
    assert rooms.secrets.hide(f"it is {held}.") == "it is [hidden secret: configured]."


def test_commands_see_none_of_our_keys_even_in_proc(
    serve: Serve, coder_on: Callable[[ModelServerThread], Coder]
) -> None:
    looks = "(env; cat /proc/[0-9]*/environ 2>/dev/null) | tr '\\0' '\\n' | grep -c own-key; true"
    server = serve(script(proposes(bash(looks)), says("done")))
    ran = coder_on(server).run("-p", "go", "--mode", "yolo", env={"OPENAI_API_KEY": OWN})
    assert ran.code == 0
    assert server.requests[-1]["messages"][-1]["content"] == "0"
