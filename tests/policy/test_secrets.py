"""What tools bring is stored, shown and sent without the keys in it."""

import time
from base64 import b64encode, encodebytes
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coderelay.policy.secrets.masking import Secrets, adds_marker
from coderelay.policy.secrets.secret_value_recognition import passwords_in, secret_values
from coderelay.protocol.calls import Denied, Failed, Finished, Need

RANDOM = "Zk3vQ9xT7bLm2Rw8Yc5Nf1Hd6Gs4Jp0AeUiOoXy"
KEY_LINES = "\n".join("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKB"[:64] for _ in range(6))

SECRETS = {
    f"ANTHROPIC_API_KEY=sk-ant-api03-{RANDOM}": "ANTHROPIC_API_KEY=[hidden secret: anthropic key]",
    f"key: 'sk-proj-{RANDOM}'": "key: '[hidden secret: api key]'",
    f'"sk-{RANDOM}"': '"[hidden secret: api key]"',
    f"12\ttoken=ghp_{RANDOM}": "12\ttoken=[hidden secret: github token]",
    f"github_pat_11AAA_{RANDOM}": "[hidden secret: github token]",
    f"glpat-{RANDOM[:20]} # ci": "[hidden secret: gitlab token] # ci",
    f"xoxb-123456789012-{RANDOM}": "[hidden secret: slack token]",
    f"AIza{RANDOM[:35]}": "[hidden secret: google key]",
    f"sk_live_{RANDOM}": "[hidden secret: stripe key]",
    f"//registry/:_authToken=npm_{RANDOM[:36]}": "//registry/:_authToken=[hidden secret: npm token]",
    f"hf_{RANDOM}": "[hidden secret: hugging face token]",
    f"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.{RANDOM}": "[hidden secret: web token]",
    f"aws_secret_access_key = {RANDOM}A": "aws_secret_access_key = [hidden secret: value]",
    "pg://app:h8Kd2mWq@db.internal.net:5432/x": "pg://app:[hidden secret: password]@db.internal.net:5432/x",
    f"> Authorization: Bearer {RANDOM}": "> Authorization: Bearer [hidden secret: bearer token]",
}


def encoded(text: str) -> str:
    return b64encode(text.encode()).decode()


LINES = "".join(encodebytes(f"user = me\nkey = ghp_{RANDOM}\n".encode() * 4).decode())
HEX = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"
VALUE = "[hidden secret: value]"

IN_CONTEXT = {
    # examples end where a generator could have made it
    "ghp_" + "aaaabbbbcccc" * 3: "[hidden secret: github token]",
    "ghp_" + "1234567890" * 4: "[hidden secret: github token]",
    # addresses
    f"https://me:{RANDOM}@host.org/x": "https://me:[hidden secret: password]@host.org/x",
    f"https://x-access-token:{HEX}@github.com/a": "https://x-access-token:[hidden secret: password]@github.com/a",
    f"redis://:{HEX}@cache.host.org:6379": "redis://:[hidden secret: password]@cache.host.org:6379",
    "GET /v1?api_key=abc123def456&page=2": f"GET /v1?api_key={VALUE}&page=2",
    f"https://h.org/?a=1&access_token={RANDOM}#x": f"https://h.org/?a=1&access_token={VALUE}#x",
    f"?sig={HEX}&se=2026": f"?sig={VALUE}&se=2026",
    # JSON, also in JSON, and what looks like it
    f'{{"api_key": "{RANDOM}", "a": 1}}': f'{{"api_key": "{VALUE}", "a": 1}}',
    f'{{\\"apiKey\\":\\"{RANDOM}\\"}}': f'{{\\"apiKey\\":\\"{VALUE}\\"}}',
    f"  clientSecret: {RANDOM}": f"  clientSecret: {VALUE}",
    f"'secret_key' => '{RANDOM}'": f"'secret_key' => '{VALUE}'",
    f"X-Api-Key: {HEX}": f"X-Api-Key: {VALUE}",
    f'"Authorization": "Bearer {RANDOM}"': '"Authorization": "Bearer [hidden secret: bearer token]"',
    f"Authorization: Basic {encoded('me:hunter2')}": f"Authorization: Basic {VALUE}",
    f"authorization: token {HEX}": f"authorization: token {VALUE}",
    f'{{"auths": {{"r.io": {{"auth": "{encoded("me:pw1")}"}}}}}}': f'{{"auths": {{"r.io": {{"auth": "{VALUE}"}}}}}}',
    f"//registry.npmjs.org/:_authToken={HEX}": f"//registry.npmjs.org/:_authToken={VALUE}",
    # variables
    "DB_PASSWORD=hunter2hunter2": f"DB_PASSWORD={VALUE}",
    "export X_SECRET='p4ss w0rd!$'": f"export X_SECRET='{VALUE}'",
    f"AWS_SESSION_TOKEN={RANDOM}/+{RANDOM}==": f"AWS_SESSION_TOKEN={VALUE}",
    f"docker run -e API_TOKEN={HEX} x": f"docker run -e API_TOKEN={VALUE} x",
    # files of other programs
    "machine h.org login me password hunter2": "machine h.org login me password [hidden secret: password]",
    f"AccountName=a;AccountKey={RANDOM}{RANDOM}==;x": "AccountName=a;AccountKey=[hidden secret: azure key];x",
    f"AKIAQ3EGRT7ZAB2KLMNO,{RANDOM}A": "[hidden secret: aws key],[hidden secret: aws secret key]",
    # base64
    f"data: {encoded(f'ghp_{RANDOM}')}": "data: [hidden secret: encoded]",
    f"data: {encoded(f'url: https://me:{RANDOM}@host.org')}": "data: [hidden secret: encoded]",
    LINES: "[hidden secret: encoded]\n",
    # kinds of keys
    f"gsk_{RANDOM}{RANDOM}"[:56]: "[hidden secret: groq key]",
    f"sk_test_{RANDOM}": "[hidden secret: stripe key]",
    f"whsec_{RANDOM}": "[hidden secret: stripe secret]",
    f"xapp-1-A012-{RANDOM}": "[hidden secret: slack token]",
    f"GOCSPX-{RANDOM[:28]}": "[hidden secret: google secret]",
    f"pypi-{RANDOM}{RANDOM}": "[hidden secret: pypi token]",
    f"SG.{RANDOM[:22]}.{RANDOM}abcd": "[hidden secret: sendgrid key]",
    f"dckr_pat_{RANDOM[:27]}": "[hidden secret: docker token]",
    f"hvs.{RANDOM}": "[hidden secret: vault token]",
}
ORDINARY = [
    "550e8400-e29b-41d4-a716-446655440000",
    f"commit {HEX}",
    f'"integrity": "sha512-{encoded(RANDOM * 2)[:86]}==",',
    f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{RANDOM} me@host",
    "-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA\n-----END PUBLIC KEY-----",
    f'public_key = "{HEX}"',
    f'cache_key: "{HEX}"',
    f"key: {HEX}",
    f'<img src="data:image/png;base64,iVBORw0KGgo{RANDOM}">',
    'var t=e.token,r=n.secret=function(){return a["password"]=b64decode(c.key2),!0};',
    'login(password="hunter2", token="test-token-1234567890")',
    "token = settings.api_token_v2",
    "API_TOKEN = os.environ['API_TOKEN_V2']",
    "GITHUB_TOKEN=secrets.GITHUB_TOKEN_2",
    "PASSWORD=${DB_PASSWORD_2}",
    "POSTGRES_PASSWORD=postgres",
    "API_KEY=your-api-key-123",
    "SECRET_FILE=/run/secrets/app1",
    "OLDPWD=/home/me/work2",
    "token: 2026-11-16T03:12:35Z",
    '{"max_tokens": 4096, "token_type": "bearer", "tokenizer": "gpt-4o-mini-2024-07-18"}',
    "the password: it is kept in the vault2 of the team",
    "https://h.org/?token=abc&key=1",
    "sk-chasing-dot-before-animation-name",
    "bearer of the certificate-of-authenticity-2024",
    encoded("nothing but a long line of harmless text, several times over"),
    "ghp_" + "x" * 36,
    "sk-" + "x" * 48,
    "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
]
HARMLESS = [
    "token = get_token(request)",
    "sk-learn is not scikit-learn",
    "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
    "AKIAIOSFODNN7EXAMPLE",
    "ghp_short",
    "postgres://postgres:postgres@localhost:5432/app",
    "redis://user:secret@127.0.0.1/0",
    "mysql://root:password@db/x",
    "https://user:${PASSWORD}@host.example.org/",
    "git@github.com:me/it.git",
    "a risk-free desk-based task-oriented-approach-to-something-long",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "the header says PRIVATE KEY, but there is none",
    # Source code, as it is in requests, cryptography, pip and jwt.
    '_START = b"-----BEGIN OPENSSH PRIVATE KEY-----"\n_END = b"-----END OPENSSH PRIVATE KEY-----"',
    "MARK = '-----BEGIN PRIVATE KEY-----'\nconst aVeryLongIdentifierOfMine = parameterizedTestCase(1)\n",
    "# Return with login / password\nlogin_i = 0 if _netrc[0] else 1",
    "f'machine {host} login {self.username} password {self.password}'",
    "https://username:password@host.com:80/path",
    "scheme://[user:passwd@]proxy.server:port",
    "def sign(private_key: Ed25519PrivateKey | Ed448PrivateKey)",
]


@pytest.mark.parametrize(("text", "hidden"), SECRETS.items())
def test_known_kinds_of_keys_are_hidden(text: str, hidden: str) -> None:
    assert Secrets().hide(text) == hidden
    assert Secrets().hide(f"before\n{text}\nafter {text}; x") == f"before\n{hidden}\nafter {hidden}; x"


@pytest.mark.parametrize("colour", ["\x1b[31m", "\x1b[m\x1b[K", "\x1b[01;31m\x1b[K", "\x1b[0m", "\x1b[38;5;208m"])
def test_a_key_behind_a_colour_was_shown(colour: str) -> None:
    for key in (f"ghp_{RANDOM}", f"sk-proj-{RANDOM}", f"xoxb-123456789012-{RANDOM}", f"AIza{RANDOM[:35]}"):
        assert key[8:] not in Secrets().hide(f"TOKEN={colour}{key}\x1b[0m")


def test_a_key_joined_to_a_name_was_shown() -> None:
    for text in (f"TOKEN_ghp_{RANDOM}", f"%3Dghp_{RANDOM}", f"x=3Dgithub_pat_{RANDOM}"):
        assert RANDOM not in Secrets().hide(text)


@pytest.mark.parametrize(("text", "hidden"), IN_CONTEXT.items())
def test_secrets_are_hidden_in_addresses_json_variables_and_base64(text: str, hidden: str) -> None:
    assert Secrets().hide(text) == hidden
    assert Secrets().hide(hidden) == hidden


@pytest.mark.parametrize("text", [*HARMLESS, *ORDINARY])
def test_what_only_looks_like_one_stays(text: str) -> None:
    assert Secrets().hide(text) == text


@pytest.mark.parametrize("kind", ["PRIVATE KEY", "RSA PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"])
def test_a_private_key_is_hidden_between_its_first_and_last_line(kind: str) -> None:
    first, last = f"-----BEGIN {kind}-----", f"-----END {kind}-----"
    hidden = f"{first}[hidden secret: private key]{last}"
    assert Secrets().hide(f"a\n{first}\n{KEY_LINES}\n{last}\nb") == f"a\n{hidden}\nb"
    assert Secrets().hide(f'"{first}\\n{KEY_LINES[:64]}\\n{last}\\n"') == f'"{hidden}\\n"'
    numbered = "\n".join(f"{at}\t{line}" for at, line in enumerate([first, *KEY_LINES.split("\n"), last], 1))
    assert Secrets().hide(numbered) == f"1\t{hidden}"


def test_a_private_key_that_was_cut_off_is_hidden_as_far_as_it_goes() -> None:
    first = "-----BEGIN PRIVATE KEY-----"
    assert Secrets().hide(f"{first}\n{KEY_LINES}") == f"{first}[hidden secret: private key]"
    assert Secrets().hide(f"{first}\n{KEY_LINES}\nthen: this") == f"{first}[hidden secret: private key]then: this"


def test_configured_values_are_hidden_whatever_they_look_like() -> None:
    secrets = Secrets(["a+b(c)", "a+b(c)d[", "plain-words"])
    assert secrets.hide("x a+b(c)d[ y a+b(c) plain-words") == (
        "x [hidden secret: configured] y [hidden secret: configured] [hidden secret: configured]"
    )


def test_values_of_the_environment_are_known_by_name_and_look() -> None:
    environment = {
        "OPENAI_API_KEY": "local-key-1",
        "DB_PASSWORD": "hunter2hunter2",
        "SECRET_KEY": "development",
        "GOOGLE_APPLICATION_CREDENTIALS": "/home/me/google-service-account.json",
        "TOKENIZERS_PARALLELISM": "false",
        "EDITOR": "some-editor-with-1-number",
        "SSH_AUTH_SOCK": "/tmp/ssh-XXXXXX/agent.1234",
    }
    assert secret_values(environment) == ["local-key-1", "hunter2hunter2"]


def test_outcomes_and_diffs_are_hidden_but_not_what_a_person_decides_on() -> None:
    secrets = Secrets(["h8Kd2mWq"])
    assert secrets.hide_outcome(Finished("got h8Kd2mWq", "h8Kd2mWq")) == Finished(
        "got [hidden secret: configured]", "[hidden secret: configured]"
    )
    assert secrets.hide_outcome(Failed("no h8Kd2mWq")) == Failed("no [hidden secret: configured]")
    assert secrets.hide_outcome(Denied("h8Kd2mWq")) == Denied("h8Kd2mWq")
    need = Need("bash", "command", "echo h8Kd2mWq", command="echo h8Kd2mWq", diff="-h8Kd2mWq")
    hidden = secrets.hide_need(need)
    assert (hidden.title, hidden.command, hidden.diff) == (need.title, need.command, "-[hidden secret: configured]")


def test_a_marker_is_noticed_when_it_takes_the_place_of_a_secret() -> None:
    assert adds_marker("KEY=abc", "KEY=[hidden secret: api key]")
    assert not adds_marker("see [hidden secret: api key]", "see [hidden secret: api key] there")


@given(st.text(max_size=300), st.lists(st.text(alphabet="abcXYZ019+/=-_", min_size=8, max_size=40), max_size=4))
def test_hiding_twice_changes_nothing_more(text: str, values: list[str]) -> None:
    secrets = Secrets(values)
    for value in values:
        text += f" {value}"
    once = secrets.hide(text)
    assert secrets.hide(once) == once
    assert not any(value in once for value in values if value not in "[hidden secret: configured]")


@pytest.mark.parametrize(
    ("address", "password"),
    [
        ("postgresql://me:a%40b@host:5432/log?sslmode=require", ["a%40b", "a@b"]),
        ("postgresql:///log?host=/run&password=abc", ["abc", "abc"]),
        ("host=db user=me password=abc dbname=log", ["abc", "abc"]),
        ("postgresql://me@host/log", []),
        ("postgresql://host:5432/log", []),
        ("", []),
    ],
)
def test_the_password_in_the_address_of_a_database_is_known(address: str, password: list[str]) -> None:
    assert passwords_in(address) == password


def test_the_problem_of_a_need_is_hidden_too() -> None:
    need = Need("edit", "edit", "f", problem=f"the text to replace is not in f:\n1\tghp_{RANDOM}")
    assert Secrets().hide_need(need).problem == "the text to replace is not in f:\n1\t[hidden secret: github token]"


@pytest.mark.parametrize("outcome", [Finished, Failed])
def test_the_halves_of_a_secret_beside_what_is_left_out_are_not_shown(outcome: type[Finished] | type[Failed]) -> None:
    text = f"a b\nkey=ghp_{RANDOM[:20]}\n[999 bytes left out]\n{RANDOM[20:]} c\nd"
    expected = "a b\n…\n[999 bytes left out]\n… c\nd"
    assert Secrets().hide_outcome(outcome(text)) == outcome(expected)
    whole = "a\n\n[999 bytes left out]\n b"
    assert Secrets().hide_outcome(outcome(whole)) == outcome(whole)


def test_configured_values_are_hidden_in_an_address_in_json_and_in_base64() -> None:
    value = 'pä"ss/w0rd+'
    secrets = Secrets([value, "plain-4711"])
    hidden = "[hidden secret: configured]"
    assert secrets.hide(f"?x={quote(value, safe='')}&y") == f"?x={hidden}&y"
    assert secrets.hide(r'{"x": "p\u00e4\"ss/w0rd+"}') == f'{{"x": "{hidden}"}}'
    assert secrets.hide(f"x: {encoded('me:plain-4711')}") == "x: [hidden secret: encoded]"
    assert secrets.hide(f"x: {encoded('this is my plain-4711 value')}") == "x: [hidden secret: encoded]"


def test_a_private_key_whose_first_line_was_cut_off_is_hidden() -> None:
    last = "-----END PRIVATE KEY-----"
    lines = KEY_LINES.replace("MII", "abc")
    assert Secrets().hide(f"words here\n{lines}\n{last}\nb") == f"words here\n[hidden secret: private key]{last}\nb"
    assert Secrets().hide(f"no key\n{last}") == f"no key\n{last}"


def test_the_lines_of_a_private_key_are_known_by_how_they_begin() -> None:
    assert Secrets().hide(f"x\n{KEY_LINES}\n") == "x\n[hidden secret: private key]"


BLOCK = 1 << 20
HOSTILE = [
    "a",
    "key",
    "token=",
    "TOKEN=",
    "sk-",
    "://a:b",
    "password=   ",
    "eyJaaaaaaaaaaaa.",
    "bearer ",
    "MIIEpAIBAAKCAQEA",
    "-----BEGIN PRIVATE KEY-----\n",
    "-----BEGIN PRIVATE KEY-----" * 200 + "\nAAAAAAAAAAAAAAAAAA" * 200,
    "-----END PRIVATE KEY-----\n",
    "a b\n-----END PRIVATE KEY-----",
    "A" * 76 + "\n",
    "machine a login b password ",
    "AKIA",
    "hooks.slack.com/services/",
    "Private-Lines: 1\n",
    "AAAAAAAAAAAAAAAA\n",
    "login ",
    "?key=1&",
    '\\\\"key\\\\":',
    f"TOKEN={RANDOM}\n",
]


@pytest.mark.parametrize("piece", HOSTILE)
def test_the_time_is_bounded_whatever_the_text_is(piece: str) -> None:
    """A megabyte in less than a second of processor time, tens of seconds where something is looked at again."""
    text = (piece * (BLOCK // len(piece) + 1))[:BLOCK]
    began = time.process_time()
    Secrets(["configured-4711"]).hide(text)
    assert time.process_time() - began < 8
