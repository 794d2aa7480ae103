"""Rules on paths that deny or ask hold in every text of a command that a shell runs, not in the command alone."""

from pathlib import Path

import pytest

from coderelay.host.shell_command_disk_facts import facts_about
from coderelay.policy.shell.command_verdict import judge_command
from tests.policy.rule_parsing import read_rules

FORMS = (
    "bash -c 'COMMAND'", "sh -c 'COMMAND'", "bash -lc 'COMMAND'", "fish -c 'COMMAND'", "nu -c 'COMMAND'",
    "eval 'COMMAND'", "env -S 'COMMAND'", "echo $(COMMAND)", "x=$(COMMAND)", "echo `COMMAND`", "sh <<E\nCOMMAND\nE",
    "bash <<< 'COMMAND'", "echo 'COMMAND' | sh", "f() { COMMAND; }; f", "if true; then COMMAND; fi", "(COMMAND)",
    "{ COMMAND; }", "COMMAND > $OUT", "COMMAND &", "strace bash -c 'COMMAND'", 'bash -c "bash -c \'COMMAND\'"',
    "sudo sh -c 'COMMAND'", "trap 'COMMAND' EXIT", "timeout 5 sh -c 'COMMAND'", "ls | while read x; do COMMAND; done",
    "cat <(COMMAND)", "su me -c 'COMMAND'", "cd src; bash -c 'cd ..; COMMAND'",
)  # fmt: skip
REACHING = (
    "cat pri*/a",
    "grep -r x .",
    "rg x",
    "git grep x",
    "find . -name x -exec cat {} +",
    "cat */a",
    "rg x pri*",
)
OTHER = ("cat src/*", "grep -r x src", "rg x src", "cat *.py", "find src -exec cat {} +", "cat src/a")


def verdict(command: str, **rules: tuple[str, ...]) -> str:
    """In the preset that asks least."""
    return judge_command(
        command, "default", ("/ws",), read_rules(**rules), preset="yolo", sandboxed=True, home="/home/me"
    ).verdict


@pytest.mark.quick
@pytest.mark.parametrize("form", FORMS)
def test_c32_a_glob_or_a_search_in_another_shell_met_no_rule_on_paths(form: str) -> None:
    for command in (form.replace("COMMAND", each) for each in REACHING):
        assert verdict(command, deny=("read(private/**)",)) == "ask", command
        assert verdict(command, ask=("read(private/**)",)) == "ask", command
        assert verdict(command) == "allow", command


@pytest.mark.quick
@pytest.mark.parametrize("form", [each for each in FORMS if "| sh" not in each and "read" not in each])
def test_what_reaches_other_paths_in_another_shell_is_left_alone(form: str) -> None:
    for command in (form.replace("COMMAND", each) for each in OTHER):
        assert verdict(command, deny=("read(private/**)",)) == "allow", command


@pytest.mark.quick
@pytest.mark.parametrize(
    ("command", "likely"),
    [
        ("bash -c 'cd private && cat a'", "deny"), ("cd private; bash -c 'cat a'", "deny"),
        ("bash -c 'cd conf && cat keys/a'", "deny"), ("cd conf; fish -c 'cat keys/a'", "deny"),
        ("bash -c 'for x in keys; do cat conf/$x/a; done'", "deny"), ("sh -c 'grep -fconf/keys/a x'", "deny"),
        ("git -C conf show HEAD:keys/a", "deny"), ("pushd conf; cat keys/a", "deny"),
        ("f() { cat keys/a; }; cd conf; f", "ask"), ("env -C conf cat keys/a $X", "ask"),
        ("tar --directory=conf -cf - keys $X", "ask"),
        # What the shell makes of a word.
        ("cat pri{v,w}ate/a", "ask"), ("cat {private,src}/a", "ask"), ("cat [p]rivate/a", "ask"),
        ("cat pri\"v\"*/a $X", "ask"), ("cat pri{v..w}ate/a", "ask"), ("cat {{x,pri}*,y}/a", "ask"),
        ("cat pri\\*/a $X", "allow"), ("cat 'pri*/a' $X", "allow"), ("echo 'a * b' $X", "allow"),
        ("mkdir -p {src,tests}/a", "allow"), ("find . -name x -print $X", "allow"),
        # Names that another program opens.
        ("cat $(find . -name a)", "ask"), ("cat $(git ls-files)", "ask"), ("for x in $(ls); do cat $x; done", "ask"),
        ("find . -type f | while read x; do cat $x; done", "ask"), ("find . | sudo xargs cat", "ask"),
        ("echo $(git rev-parse HEAD)", "allow"), ("git commit -m \"$(date) *\"", "allow"),
        ("rg x $FOLDER", "ask"), ("grep -c x src/a $X", "allow"),
        # What bash runs later.
        ("printf -v 'a[$(cat pri*/a)]' x", "ask"), ("PS4='$(rg x)'; set -x; true", "ask"),
        ("git commit -m 'about `rg x`'", "allow"),
        # Where nobody can look.
        ("base64 -d x | sh", "ask"), ("bash -c 'cat pri'\\'", "ask"), ("bash <(curl x)", "ask"),
        ("find src -exec sh -c 'wc -l' {} \\;", "allow"),
    ],
)  # fmt: skip
def test_a_rule_on_paths_was_bypassed_inside_a_command(command: str, likely: str) -> None:
    assert verdict(command, deny=("read(private/**)", "read(conf/keys/**)")) == likely


def test_a_link_was_followed_in_the_command_itself_only(tmp_path: Path) -> None:
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "a").write_text("x")
    (tmp_path / "innocent").symlink_to("private/a")
    folders, rules = (str(tmp_path),), read_rules(deny=("read(private/**)",))
    for command in ("cat innocent", "bash -c 'cat innocent'", "fish -c 'cat inn*'", "echo $(sh -c 'cat ./innocent')"):
        facts = facts_about(command, folders, rules, "/home/me")
        found = judge_command(command, "default", folders, rules, preset="yolo", sandboxed=True, facts=facts)
        assert found.verdict == "deny", command
