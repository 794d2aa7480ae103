"""C-38 to C-40: one command of a fixed list, chosen in a fixed order, or none."""

import pytest

from coderelay.agents.native.workflow.verification_command_choice import (
    COMMANDS,
    CheckCommand,
    choose_command,
    named_in,
)


def test_c38_the_list_is_exactly_this() -> None:
    assert COMMANDS == (
        "go test ./...",
        "pytest -q",
        "npm test -- --watch=false",
        "pnpm test -- --watch=false",
        "yarn test --watch=false",
        "cargo test",
        "mvn -q test",
        "gradle test",
        "./gradlew test",
    )


@pytest.mark.quick
@pytest.mark.parametrize("command", COMMANDS)
def test_c39_a_listed_command_is_found_wherever_a_person_writes_it(command: str) -> None:
    for prompt in (
        command,
        f"run {command}",
        f"请运行{command}验证",
        f"用 `{command}` 验证",
        f'verify with "{command}".',
        f"run {command}.",
        f"run {command}, then stop",
        f"run {command} and mend what fails",
        f"Run this:\n```\n{command}\n```",
        f"Run this:\n```sh\n$ {command}\n```",
        f"not `make`, but `{command}`",
    ):
        assert named_in(prompt) == command, prompt


@pytest.mark.parametrize(
    "prompt",
    [
        "pytest",
        "pytest -qq",
        "pytest -q tests/test_a.py",
        "pytest -q -x",
        "pytest -q --lf",
        "pytest -q test_a.py",
        "pytest -q | tee log",
        "pytest -q && make deploy",
        "pytest -q > log",
        "python -m pytest -q",
        "sudo pytest -q",
        "uv run pytest -q",
        "FOO=1 pytest -q",
        "cd a && pytest -q",
        "`cd a && pytest -q`",
        "`pytest -q tests`",
        "my-pytest -q",
        "/bin/pytest -q",
        "go test ./...x",
        "go test ./... -race",
        "go test ./internal/...",
        "npm test",
        "npm test -- --watch=falsey",
        "npm run test -- --watch=false",
        "cargo test --release",
        "cargo test my_module",
        "cargo tests",
        "mvn test",
        "gradlew test",
        "../gradlew test",
        "Pytest -q",
        "make test",
        "rm -rf /",
    ],
)
def test_c40_another_command_is_not_taken_for_a_listed_one(prompt: str) -> None:
    assert named_in(prompt) is None
    assert named_in(f"run `{prompt.strip('`')}`") is None


@pytest.mark.quick
def test_c39_the_persons_word_then_the_configuration_then_the_project() -> None:
    def inferred() -> CheckCommand:
        return CheckCommand("cargo test", "crates/a")

    assert choose_command(["run pytest -q"], ["mvn -q test"], inferred) == CheckCommand("pytest -q")
    assert choose_command(["run pytest -q", "no: cargo test"], [], inferred) == CheckCommand("cargo test")
    assert choose_command(["fix it"], ["make test", " mvn -q test ", "pytest -q"], inferred) == CheckCommand(
        "mvn -q test"
    )
    assert choose_command(["fix it"], [], inferred) == CheckCommand("cargo test", "crates/a")
    assert choose_command([], [], lambda: None) is None


@pytest.mark.parametrize(
    "off", ["make test", "pytest", "pytest -q && rm -rf /", "PYTEST -q", "sh -c 'cargo test x'", ""]
)
def test_c40_nothing_off_the_list_is_ever_chosen(off: str) -> None:
    assert choose_command([f"run {off}"], [off], lambda: CheckCommand(off)) is None
    assert choose_command([f"run {off}"], [off, "cargo test"], lambda: CheckCommand(off)) == CheckCommand(
        "cargo test"
    )
    assert choose_command([off], [off], lambda: CheckCommand("pytest -q")) == CheckCommand("pytest -q")


@pytest.mark.parametrize("more", ["; rm -rf /", "\nrm -rf /", " & rm -rf /", "\0rm"])
def test_c40_what_stands_behind_a_listed_command_is_never_run(more: str) -> None:
    assert choose_command([f"run pytest -q{more}"], [f"cargo test{more}"], lambda: None) in (
        None,
        CheckCommand("pytest -q"),
    )
