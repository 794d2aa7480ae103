"""`coder mcp`, and `/mcp` in a session: servers added, tried, looked at, used and removed."""

import json
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.coder_process import Coder, Ran
from tests.conftest import Serve
from tests.mcp.mcp_scene import DOUBLE
from tests.model_server import ModelServerThread, says, script
from tests.native.model_requests import users

CoderOn = Callable[[ModelServerThread], Coder]


@pytest.fixture
def coder(tmp_path: Path, folder: Path) -> Coder:
    (tmp_path / "home").mkdir()
    return Coder(tmp_path / "home", folder, None)


def add(coder: Coder, kind: str, *options: str) -> Ran:
    return coder.run("mcp", "add", kind, *options, "--", sys.executable, str(DOUBLE), kind)


def written(coder: Coder) -> Any:
    return json.loads((coder.home / "config.json").read_text())


@pytest.mark.parametrize(
    ("given", "entry"),
    [
        (["-e", "A=b", "--", "npx", "x"], {"command": "npx", "args": ["x"], "env": {"A": "b"}}),
        (["--transport", "stdio", "--", "npx"], {"command": "npx"}),
        (["--transport", "http", "https://a.example/mcp"], {"url": "https://a.example/mcp"}),
        (
            ["--url", "https://a.example/mcp", "--bearer-token-env-var", "TOKEN"],
            {"url": "https://a.example/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
        ),
    ],
)
def test_lines_for_other_tools_add_the_same_server(coder: Coder, given: list[str], entry: dict[str, Any]) -> None:
    ran = coder.run("mcp", "add", "there", *given)
    assert (ran.code, ran.err) == (0, "")
    assert written(coder) == {"mcp_servers": {"there": entry}}


def test_a_command_without_the_dashes_is_shown_with_them(coder: Coder) -> None:
    ran = coder.run("mcp", "add", "there", "npx", "a b")
    assert (ran.code, "put -- before the command: coder mcp add there -- npx 'a b'" in ran.err) == (2, True), ran.err


def test_a_server_is_added_tried_and_removed_and_all_else_stays(coder: Coder) -> None:
    file = coder.home / "config.json"
    before = '{\n    "model": "openai:x",\n    "budget.day": 2.5,\n    "tools": {"disabled": ["bash"]}\n}\n'
    file.write_text(before)
    file.chmod(0o640)

    added = add(coder, "good", "--env", "DOUBLE_NOTES", "--env", "COLOUR=red")
    entry = {
        "command": sys.executable,
        "args": [str(DOUBLE), "good"],
        "env": {"DOUBLE_NOTES": "${DOUBLE_NOTES}", "COLOUR": "red"},
    }
    assert (added.code, added.err) == (0, "")
    assert written(coder) == json.loads(before) | {"mcp_servers": {"good": entry}}
    assert file.read_text().startswith('{\n    "model": "openai:x",\n    "budget.day": 2.5,\n')
    assert stat.S_IMODE(file.stat().st_mode) == 0o640

    missing = coder.run("mcp", "list")
    listed = coder.run("mcp", "list", env={"DOUBLE_NOTES": str(coder.cwd / "notes")})
    where = f"{sys.executable} {DOUBLE} good"
    assert missing.out == f"✗ good  needs DOUBLE_NOTES in the environment  {where}\n"
    assert listed.out == f"✓ good  17 tools, 1 prompt, 1 resource  {where}\n"

    removed = coder.run("mcp", "remove", "good")
    assert (removed.code, removed.out) == (0, "removed good\n")
    assert written(coder) == json.loads(before)


def test_a_server_that_fails_says_why_in_the_list_and_to_the_doctor(coder: Coder) -> None:
    add(coder, "dies")
    listed, doctor = coder.run("mcp", "list"), coder.run("doctor", "--json")

    said = "ended with exit code 3; it said: ⏎ no database to be found"
    assert listed.out == f"✗ dies  {said}  {sys.executable} {DOUBLE} dies\n"
    [finding] = [each for each in json.loads(doctor.out)["findings"] if each["what"] == "mcp dies"]
    assert (finding["found"], finding["state"]) == (said, "missing")


def test_without_a_file_one_is_made_that_only_the_person_can_read(coder: Coder) -> None:
    ran = coder.run("mcp", "add", "far", "--url", "https://far.example/mcp", "--header", "X-Token: ${FAR_TOKEN}")

    assert ran.code == 0, ran.err
    assert written(coder) == {
        "mcp_servers": {"far": {"url": "https://far.example/mcp", "headers": {"X-Token": "${FAR_TOKEN}"}}}
    }
    assert stat.S_IMODE((coder.home / "config.json").stat().st_mode) & 0o077 == 0


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (("add", "x"), 2, "give either -- COMMAND or a URL"),
        (("add", "x", "--url", "https://a.example", "--", "b"), 2, "give either -- COMMAND or a URL"),
        (("add", "x", "--header", "A: b", "--", "b"), 2, "--env is for a COMMAND, --header for a URL"),
        (("remove", "x", "--", "b"), 2, "only `add` takes a command"),
        (("remove", "x"), 1, "no MCP server 'x' in"),
        (("add", "a b", "--", "b"), 1, "a name of letters, digits, . _ -"),
        (("add", "x", "--url", "far.example"), 1, "mcp_servers.x.url must be an address"),
        (("add", "x", "--env", "A-B", "--", "b"), 1, "the name of an environment variable"),
        (("add", "x", "--env", "API_TOKEN=abc", "--", "b"), 1, "give --env API_TOKEN."),
        (
            ("add", "x", "--url", "https://a.example", "--header", "Authorization: Bearer abc"),
            1,
            "looks like a secret",
        ),
        (("add", "x", "--env", "API_TOKEN=sk-abc${HOME}", "--", "b"), 1, "give --env API_TOKEN."),
        (("add", "x", "--", "b", "--token=sk-abc"), 1, "--token looks like a secret"),
        (("add", "x", "--", "b", "--api-key", "sk-abc"), 1, "--api-key looks like a secret"),
        (("add", "x", "--url", "https://a.example/?api_key=sk-abc"), 1, "api_key looks like a secret"),
        (("add", "x", "--url", "https://a.example", "--header", "nothing"), 1, "is not a header like"),
        (("add", "known", "--", "b"), 1, "MCP server 'known' already exists"),
    ],
)
def test_what_cannot_be_added_is_refused_and_changes_nothing(
    coder: Coder, arguments: tuple[str, ...], code: int, told: str
) -> None:
    file = coder.home / "config.json"
    file.write_text('{"mcp_servers.known": {"command": "b"}}')

    ran = coder.run("mcp", *arguments)

    assert (ran.code, ran.out) == (code, "")
    assert told in ran.err
    assert file.read_text() == '{"mcp_servers.known": {"command": "b"}}'


def test_a_file_that_is_wrong_is_left_as_it_is(coder: Coder) -> None:
    file = coder.home / "config.json"
    file.write_text('{"modle": "x"}')

    ran = add(coder, "good")

    assert ran.code == 1
    assert "unknown key modle" in ran.err
    assert file.read_text() == '{"modle": "x"}'


def test_a_command_of_an_agent_cannot_add_a_server(coder: Coder) -> None:
    ran = coder.run("mcp", "add", "x", "--", "b", env={"CODER": "1"})

    assert (ran.code, ran.err) == (1, "coder: a command that an agent runs cannot add an MCP server\n")
    assert not (coder.home / "config.json").exists()


def test_prompts_and_resources_are_commands(tmp_path: Path, serve: Serve, coder_on: CoderOn) -> None:
    server = serve(script(says("Hello Ann!"), says("Milk.")))
    coder = coder_on(server)
    coder.home.mkdir()
    add(coder, "good")
    lines = [
        "/mcp",
        "/mcp:good:greet Ann Smith",
        "/mcp:good:note://1 What is that?",
        "/mcp:good:greet",
        "/mcp:good:nothing",
        "/mcp:bad:greet",
        "/mcp:good",
    ]

    ran = coder.run(text="\n".join(lines), env={"CODER_MCP_SECONDS": "50"})

    where = f"{sys.executable} {DOUBLE} good"
    assert ran.code == 0, ran.err
    assert f"good  running  {where}\n  tools: ask_model, ask_person, ask_roots, chat, die," in ran.out
    assert "\n  /mcp:good:greet who  hello\n  /mcp:good:note://1  first\n" in ran.out
    for told in ("greet needs who", "good has no prompt or resource 'nothing'", "no MCP server 'bad'"):
        assert told in ran.out
    assert "usage: /mcp:SERVER:PROMPT or /mcp:SERVER:RESOURCE" in ran.out
    told = "\n".join(users(server.requests[-1]))
    assert "Greet Ann Smith." in told
    assert "note://1:\nremember the milk\n\nWhat is that?" in told
