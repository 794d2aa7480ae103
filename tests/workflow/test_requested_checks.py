"""C-37: in default mode the work is checked only when the person asks for it."""

import pytest

from coderelay.agents.native.workflow.verify_intent_in_prompt import verify_intent


@pytest.mark.quick
@pytest.mark.parametrize(
    "prompt",
    [
        "执行验证",
        "修复登录，并执行验证",
        "改完后请执行验证。",
        "运行测试",
        "修复后跑一下测试",
        "跑一遍单元测试",
        "跑通所有测试",
        "重新运行所有的测试用例",
        "修好它，然后验证一下",
        "改好之后自动验证",
        "修复并验证。",
        "最后再验证改动",
        "确保所有测试都通过",
        "请测试一下",
        "用 `pytest -q` 验证",
        "改完运行 go test ./...",
        "不要忘记运行测试",
        "别忘了跑测试",
        "不要跳过测试",
        "分别修改 a 和 b，然后运行测试",
        "Fix it and run the tests",
        "run all unit tests afterwards",
        "Please run the test suite.",
        "rerun the tests",
        "Fix the bug, then verify.",
        "Fix the bug and verify it works",
        "verify your changes",
        "please verify the fix",
        "make sure the tests pass",
        "ensure that all tests still pass",
        "run pytest",
        "Run `cargo test` when you are done",
        "check it with npm test",
        "don't forget to run the tests",
        "Don’t skip the tests!",
        "test it",
    ],
)
def test_c37_a_request_to_verify_is_understood(prompt: str) -> None:
    assert verify_intent([prompt]) == "verify"


@pytest.mark.quick
@pytest.mark.parametrize(
    "prompt",
    [
        "不要验证",
        "修复登录，不要执行验证",
        "不用跑测试",
        "无需运行任何测试",
        "别跑测试",
        "先不验证，",
        "跳过测试",
        "请勿运行测试",
        "不需要执行自动验证",
        "不要运行 pytest -q",
        "不要再验证一下了",
        "don't run tests",
        "Do not run the tests.",
        "don’t run any unit tests",
        "fix it without running the tests",
        "skip the tests",
        "skip verification",
        "no verification, please",
        "do not verify",
        "don't bother running pytest",
        "never run `cargo test`",
        "no need to run tests",
        "don't verify the changes",
    ],
)
def test_c37_a_request_not_to_verify_is_understood(prompt: str) -> None:
    assert verify_intent([prompt]) == "leave out"


@pytest.mark.parametrize(
    "prompt",
    [
        "",
        "修复登录",
        "添加邮箱验证功能",
        "实现验证码",
        "登录需要验证。",
        "对用户输入进行验证",
        "不要验证邮箱格式",
        "给登录写测试",
        "修复测试",
        "CI 不会运行测试，为什么",
        "为什么未执行自动验证",
        "分别验证码和密码的长度",
        "Fix the login",
        "add a function to verify tokens",
        "verify this signature with the public key",
        "do not verify email addresses",
        "write tests for the parser",
        "the tests fail",
        "the script does not run the tests",
        "pytest -q fails",
        "rename the run tests button",
        "there are no tests",
        "look at this log:\n```\nplease run the tests\n```",
    ],
)
def test_c37_whatever_else_is_said_is_no_wish(prompt: str) -> None:
    assert verify_intent([prompt]) is None


def test_c37_the_last_word_counts() -> None:
    assert verify_intent([]) is None
    assert verify_intent(["run the tests", "不要运行测试"]) == "leave out"
    assert verify_intent(["don't run the tests", "now use two files", "ok, run the tests"]) == "verify"
    assert verify_intent(["don't run the tests yet, run the tests at the end"]) == "verify"


@pytest.mark.parametrize("filling", ["skip{}", "run{}", "don't run{}"])
def test_c37_a_prompt_full_of_filling_words_is_read_at_once(filling: str) -> None:
    """Bounded by the timeout of the test: quadratic would be hours."""
    assert verify_intent([filling.format(" the" * 250_000)]) is None
    assert verify_intent(["后" + "自动" * 250_000, "不要再" + "自动" * 250_000]) is None


def test_c37_a_long_prompt_is_looked_at_where_it_begins_and_ends() -> None:
    log = "a line of a log\n" * 1000
    assert verify_intent([f"run the tests\n{log}"]) == "verify"
    assert verify_intent([f"{log}不要运行测试"]) == "leave out"
