"""The token of the web server: where it is kept, and how a browser gets it."""

import os
import re
from pathlib import Path

import pytest

from coderelay.protocol.errors import BadInput, CannotRun
from coderelay.surfaces.web.token_and_login_links import LINK_SECONDS, Token, given_token, kept_token


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_token_is_made_once_and_only_for_its_owner(tmp_path: Path) -> None:
    home = tmp_path / "home"
    token = kept_token(str(home))
    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", token), "256 bits"
    assert kept_token(str(home)) == token
    assert (home / "web.token").stat().st_mode & 0o777 == 0o600
    assert home.stat().st_mode & 0o777 == 0o700
    assert [each.name for each in home.iterdir()] == ["web.token"]


def test_a_permissive_umask_opens_nothing(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        kept_token(str(tmp_path))
    finally:
        os.umask(old)
    assert (tmp_path / "web.token").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o660, 0o777])
def test_a_token_that_others_could_read_is_replaced(tmp_path: Path, mode: int) -> None:
    seen = kept_token(str(tmp_path))
    (tmp_path / "web.token").chmod(mode)
    assert kept_token(str(tmp_path)) != seen
    assert (tmp_path / "web.token").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("content", ["", "\n", "two words", "ä", "x" * 600, "a\0b"])
def test_a_file_without_a_token_is_replaced(tmp_path: Path, content: str) -> None:
    (tmp_path / "web.token").write_text(content)
    (tmp_path / "web.token").chmod(0o600)
    token = kept_token(str(tmp_path))
    assert len(token) == 43
    assert (tmp_path / "web.token").read_text() == f"{token}\n"


def test_a_link_in_the_place_of_the_token_is_not_followed(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("somebody-elses-text")
    other.chmod(0o600)
    for target in (other, tmp_path / "nothing"):
        (tmp_path / "web.token").symlink_to(target)
        with pytest.raises(CannotRun, match="cannot keep the token"):
            kept_token(str(tmp_path))
        (tmp_path / "web.token").unlink()
    assert other.read_text() == "somebody-elses-text"
    assert not (tmp_path / "nothing").exists()


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "web.token")
    with pytest.raises(CannotRun, match="not a file of yours"):
        kept_token(str(tmp_path))
    (tmp_path / "web.token").unlink()
    (tmp_path / "web.token").mkdir()
    with pytest.raises(CannotRun):
        kept_token(str(tmp_path))


@pytest.mark.parametrize("text", ["", "two words", "a,b", "ä", "a\n", "x" * 513, "a=b"])
def test_a_token_of_the_person_must_fit_into_a_header(text: str) -> None:
    with pytest.raises(BadInput):
        given_token(text)


def test_a_link_is_good_once_and_for_ten_minutes() -> None:
    clock = Clock()
    token = Token("t", clock)
    first, second, third = (token.new_secret() for _ in range(3))
    assert len({first, second, third}) == 3
    assert [token.redeem(second), token.redeem(second), token.redeem(first)] == ["t", None, "t"]
    clock.now = LINK_SECONDS - 1
    fourth = token.new_secret()
    clock.now = LINK_SECONDS
    assert [token.redeem(third), token.redeem(fourth)] == [None, "t"]


def test_only_so_many_links_are_open_at_once() -> None:
    token = Token("t")
    secrets = [token.new_secret() for _ in range(100)]
    assert [token.redeem(each) for each in secrets] == [None] * 84 + ["t"] * 16


def test_guesses_are_forgotten_after_a_while() -> None:
    clock = Clock()
    token = Token("right", clock)
    for _ in range(21):
        assert not token.matches("wrong")
    assert token.is_guessed_at
    assert token.matches("right")
    clock.now = 10
    assert not token.is_guessed_at
    assert not token.matches("wrong")
    assert not token.is_guessed_at
