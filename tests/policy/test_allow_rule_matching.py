"""What a rule that allows, and an approval, cover: never an option that writes or runs, nor another target."""

import pytest

from coderelay.policy.shell.approval_signatures import Signature, covers_command, signature_of
from coderelay.policy.shell.command_verdict import judge_command
from coderelay.policy.shell.strict_bash_parser import read_script
from tests.policy.rule_parsing import read_rules

pytestmark = pytest.mark.quick

FOLDERS = ("/ws",)


def allowed(rule: str, command: str) -> bool:
    """In the preset that asks about every command: only the rule can allow it."""
    rules = read_rules(allow=(rule,))
    return judge_command(command, "default", FOLDERS, rules, preset="strict", sandboxed=True).verdict == "allow"


TOO_FAR = [
    ("bash(git log *)", "git log --output=.git/hooks/pre-commit"),
    ("bash(git log)", "git log -1 --ext-diff"),
    ("bash(git diff)", "git diff --output=x"),
    ("bash(git)", "git log --output=x"),
    ("bash(git)", "git -c core.pager=evil log"),
    ("bash(git)", "git --exec-path=/tmp log"),
    ("bash(git branch)", "git branch -D main"),
    ("bash(git config)", "git config core.fsmonitor ./evil"),
    ("bash(git add)", "git add --chmod=+x evil"),
    ("bash(git commit)", "git commit --amend"),
    ("bash(git commit)", "git commit -a -m x"),
    ("bash(make lint)", "make lint SHELL=./evil.sh"),
    ("bash(make lint)", "make lint install"),
    ("bash(make lint)", "make lint -f evil.mk"),
    ("bash(make lint)", "make lint --eval=x"),
    ("bash(make lint)", "make lint -C sub"),
    ("bash(make lint)", "make lint -j install"),
    ("bash(make)", "make SHELL=./evil.sh"),
    ("bash(make)", "make -f evil.mk"),
    ("bash(make)", "make -C /tmp/evil"),
    ("bash(find)", "find . -delete"),
    ("bash(find .)", "find . -exec rm {} +"),
    ("bash(sort)", "sort -o x y"),
    ("bash(sort)", "sort --compress-program=./evil x"),
    ("bash(sed)", "sed -i s/a/b/ x"),
    ("bash(awk)", "awk 'BEGIN{system(1)}'"),
    ("bash(rg)", "rg --pre ./evil x"),
    ("bash(tar tf)", "tar tf x --to-command=./evil"),
    ("bash(date)", "date -s 2020-01-01"),
    ("bash(cat)", "cat .env"),
    ("bash(cat)", "cat .e*"),
    ("bash(timeout 5)", "timeout 5 rm x"),
    ("bash(timeout 5 make test)", "timeout 5 make test install"),
    ("bash(pytest)", "pytest -p evil"),
    ("bash(pytest)", "pytest -c evil.ini"),
    ("bash(pytest)", "pytest -o addopts=-pevil"),
    ("bash(pytest)", "pytest --rootdir=/tmp/evil"),
    ("bash(pytest)", "pytest --confcutdir=/"),
    ("bash(python -m pytest)", "python -m pytest --basetemp=/home/me"),
    ("bash(mypy)", "mypy --config-file evil.ini"),
    ("bash(mypy)", "mypy --python-executable ./evil x"),
    ("bash(cargo test)", "cargo test --config ./evil.toml"),
    ("bash(go test)", "go test -exec ./evil ./..."),
    ("bash(go test)", "go test -toolexec ./evil ./..."),
    ("bash(go test)", "go test -o .git/hooks/pre-commit"),
    ("bash(go vet)", "go vet -vettool=./evil"),
    ("bash(ruff check)", "ruff check --fix"),
    ("bash(ruff format --check)", "ruff format --check --config evil.toml"),
    ("bash(eslint)", "eslint --fix src"),
    ("bash(eslint)", "eslint --rulesdir evil src"),
    ("bash(prettier)", "prettier --write src"),
    ("bash(prettier)", "prettier --plugin ./evil.js src"),
    ("bash(tsc)", "tsc -p evil"),
    ("bash(jest)", "jest --config evil.js"),
    ("bash(npm test)", "npm test -- --x"),
    ("bash(npm run build)", "npm run build --prefix evil"),
    ("bash(bun test)", "bun test --preload ./evil.ts"),
    ("bash(ninja)", "ninja -f evil.ninja"),
    ("bash(ninja test)", "ninja test install"),
    ("bash(cmake --build build)", "cmake --build build --target=install"),
    ("bash(cmake --build build)", "cmake --build build --target install"),
    ("bash(cmake --build build)", "cmake --build build -- install"),
    ("bash(ctest)", "ctest -S evil.cmake"),
    ("bash(mvn test)", "mvn test -Dexec.executable=./evil"),
    ("bash(mvn test)", "mvn test deploy"),
    ("bash(gradle test)", "gradle test :deploy"),
    ("bash(gradle test)", "gradle test -I evil.gradle"),
    ("bash(tox)", "tox -e deploy"),
    ("bash(nox)", "nox -s publish"),
    ("bash(dotnet test)", "dotnet test --settings evil"),
    ("bash(touch)", "touch .git/hooks/pre-commit"),
    ("bash(foo bar)", "foo bar > x"),
    ("bash(foo bar)", "X=1 foo bar"),
    ("bash(foo bar)", "foo bar $(rm x)"),
    ("bash(foo bar)", "foo bar; rm x"),
]


@pytest.mark.parametrize(("rule", "command"), TOO_FAR)
def test_a_rule_that_allows_reached_too_far(rule: str, command: str) -> None:
    assert not allowed(rule, command)


@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("bash(git log *)", "git log --oneline -5 -- src"),
        ("bash(git log)", "git log"),
        ("bash(git)", "git push origin main"),
        ("bash(git)", "git status --short"),
        ("bash(git push)", "git push origin main --tags"),
        ("bash(git stash)", "git stash pop"),
        ("bash(git tag -a)", "git tag -a v1 -m x"),
        ("bash(sed -i)", "sed -i s/a/b/ x"),
        ("bash(make)", "make"),
        ("bash(make)", "make -j4 install"),
        ("bash(make lint)", "make lint -k -j 4"),
        ("bash(make lint SHELL=./x)", "make lint SHELL=./x"),
        ("bash(timeout 5 make)", "timeout 5 make test"),
        ("bash(timeout 5)", "timeout 5 cat x"),
        ("bash(ls)", "ls -la /usr/share"),
        ("bash(cat .env)", "cat .env"),
        ("bash(pytest)", "pytest -q tests/a.py"),
        ("bash(npm run)", "npm run deploy --if-present"),
        ("bash(cargo)", "cargo run --release"),
        ("bash(foo bar)", "foo bar --output=x anything"),
        ("bash(./x.sh)", "./x.sh --all"),
        ("bash(python)", "python x.py --now"),
        ("bash", "find . -delete"),
    ],
)
def test_a_rule_that_allows_still_covers_what_it_means(rule: str, command: str) -> None:
    assert allowed(rule, command)


def remembered(command: str) -> Signature | None:
    return signature_of(read_script(command))


@pytest.mark.parametrize(
    ("command", "words", "prefix"),
    [
        ("make test", "make test", True),
        ("make -j4 -k test", "make test", True),
        ("make -j test", "make -j test", True),
        ("make -C sub test", "make -C sub test", True),
        ("make", "make", True),
        ("make test SHELL=./x", "make test SHELL=./x", False),
        ("ninja -C build install", "ninja -C build install", True),
        ("cmake --build build --target install -j 4", "cmake --build build --target install", True),
        ("tox -q -e py311", "tox -e py311", True),
        ("pytest -q tests/a.py -k x", "pytest", True),
        ("ruff check --fix src", "ruff check --fix", True),
        ("ruff format --check src", "ruff format --check", True),
        ("git commit -q -m x", "git commit", True),
        ("git commit -am x", "git commit -am x", True),
        ("git -c a=b commit -m x", "git -c a=b commit -m x", False),
        ("go test -exec ./x ./...", "go test -exec ./x ./...", False),
        ("rm x", "rm x", False),
    ],
)
def test_d15_always_keeps_targets_and_what_writes(command: str, words: str, prefix: bool) -> None:
    expected = Signature(tuple(words.split()), prefix)
    assert remembered(command) == expected
    assert covers_command(expected, command, FOLDERS)


@pytest.mark.parametrize(
    ("command", "other"),
    [
        ("make test", "make install"),
        ("make test", "make"),
        ("make", "make install"),
        ("make test", "make test install"),
        ("make test", "make -j install test"),
        ("make test", "make -C sub test"),
        ("make test", "make test SHELL=./evil.sh"),
        ("make -n install", "make install"),
        ("cmake --build build", "cmake --build other"),
        ("cmake --build build", "cmake --build build --target=install"),
        ("ninja", "ninja install"),
        ("tox", "tox -e deploy"),
        ("nox -s tests", "nox -s publish"),
        ("ruff check src", "ruff check --fix src"),
        ("ruff format --check", "ruff format"),
        ("black --check .", "black ."),
        ("prettier --check .", "prettier --write ."),
        ("tsc --noEmit", "tsc"),
        ("tsc --noEmit", "tsc --noEmit -p other"),
        ("git commit -m x", "git commit -a -m x"),
        ("mvn -o test", "mvn test"),
    ],
)
def test_d15_always_covered_another_target_or_an_option_that_writes(command: str, other: str) -> None:
    kept = remembered(command)
    assert kept is not None
    assert not covers_command(kept, other, FOLDERS)


def test_an_approval_of_make_in_an_old_log_covers_no_target() -> None:
    old = Signature(("make",), prefix=True)
    assert [covers_command(old, each, FOLDERS) for each in ("make", "make -j4", "make test")] == [True, True, False]
