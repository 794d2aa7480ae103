"""What tools bring is stored, shown and sent without the keys in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coderelay.policy.secrets import Secrets, adds_marker, passwords_in, secret_values
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
    f"aws_secret_access_key = {RANDOM}A": "aws_secret_access_key = [hidden secret: aws secret key]",
    "pg://app:h8Kd2mWq@db.internal.net:5432/x": "pg://app:[hidden secret: password]@db.internal.net:5432/x",
    f"> Authorization: Bearer {RANDOM}": "> Authorization: Bearer [hidden secret: bearer token]",
}
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
]


@pytest.mark.parametrize(("text", "hidden"), SECRETS.items())
def test_known_kinds_of_keys_are_hidden(text: str, hidden: str) -> None:
    assert Secrets().hide(text) == hidden
    assert Secrets().hide(f"before\n{text}\nafter {text}; x") == f"before\n{hidden}\nafter {hidden}; x"


@pytest.mark.parametrize("text", HARMLESS)
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
    need = Need("edit", "edit", "f", problem=f"old is not in f:\n1\tghp_{RANDOM}")
    assert Secrets().hide_need(need).problem == "old is not in f:\n1\t[hidden secret: github token]"


@pytest.mark.parametrize("outcome", [Finished, Failed])
def test_the_halves_of_a_secret_beside_what_is_left_out_are_not_shown(outcome: type[Finished] | type[Failed]) -> None:
    text = f"a b\nkey=ghp_{RANDOM[:20]}\n[999 bytes left out]\n{RANDOM[20:]} c\nd"
    expected = "a b\n…\n[999 bytes left out]\n… c\nd"
    assert Secrets().hide_outcome(outcome(text)) == outcome(expected)
    whole = "a\n\n[999 bytes left out]\n b"
    assert Secrets().hide_outcome(outcome(whole)) == outcome(whole)
