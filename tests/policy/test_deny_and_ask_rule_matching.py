"""A rule that denies or asks means at least what the same rule would allow, however a command spells the program."""

import os
import shutil
from itertools import product
from pathlib import Path

import pytest

from coderelay.host.shell_command_disk_facts import facts_about
from coderelay.policy.shell.command_verdict import judge_command
from tests.coder_process import Coder
from tests.policy.rule_parsing import read_rules
from tests.policy.test_command_verdicts import EVERYDAY, HOSTILE
from tests.policy.test_recorded_commands import CORPUS

FOLDERS = ("/ws",)
RULED = (
    "bash", "bash(*)", "bash(git)", "bash(git push)", "bash(git log *)", "bash(git push --force)",
    "bash(./denied.sh *)",
    "bash(/usr/bin/foo *)", "bash(scripts/deploy.sh prod)", "bash(make)", "bash(make test)", "bash(rm -rf)",
    "bash(ls)",
    "bash(npm run:*)", "bash(python -m pytest)", "bash(env)", "bash(timeout 5 make)", "bash(test)", "bash(xargs)",
    "bash(sh -c)", "bash(/bin/sh)", "bash(.)", "bash(~/bin/tool)", "bash(cd)", "bash(echo)", "bash(find)",
    "bash(cat)",
)  # fmt: skip
PROGRAMS = (
    "git push", "git log", "./denied.sh x", "/usr/bin/foo x", "scripts/deploy.sh prod", "make test", "rm -rf x", "ls",
    "npm run build", "python -m pytest -q", "[ -f x ]", "test -f x", "xargs rm", "cd src", ". ./x", "~/bin/tool",
)  # fmt: skip
WRAPPED = (
    "{}", "X=1 {}", "env {}", "env X=1 {}", "env -i X=1 {}", "timeout 5 {}", "timeout -k 5 5 {}", "nice {}",
    "nice -n 5 {}",
    "command {}", "exec {}", "sudo {}", "sudo -u me -g us -h here {}", "sh -c '{}'", "bash -lc '{}'", "xargs {}",
    "echo | xargs -n 1 {}", "nohup {} &", "time {}", "({})", "{{ {}; }}", "if true; then {}; fi",
    "for x in a b; do {}; done",
    "true && {}", "! {}", "echo $({})", "f() {{ {}; }}; f", "eval '{}'", "env -S '{}'", "bash <<< '{}'",
    "sh <<E\n{}\nE", "echo '{}' | sh", "stdbuf -o L {}", "strace -f {}", "setsid {}", "coproc {}", "ltrace {}",
    "su me -c '{}'", "flock x -c '{}'", "busybox {}", "fish -c '{}'", "fish --command='{}'", "nu -c '{}'",
    "nu -e '{}'", "xonsh -c '{}'", "elvish -c '{}'", "osh -c '{}'", "toybox sh -c '{}'", "catchsegv {}",
    "gdb --args {}",
    "script -qc '{}' x", "chrt 5 {}", "strace fish -c '{}'", "parallel '{}' ::: a", "hyperfine '{}'",
)  # fmt: skip


def verdict(command: str, **rules: tuple[str, ...]) -> str:
    """In the preset that asks least."""
    return judge_command(command, "default", FOLDERS, read_rules(**rules), preset="yolo", sandboxed=True).verdict


def allowed_because_of(rules: tuple[str, ...], command: str) -> bool:
    strict = judge_command(command, "default", FOLDERS, read_rules(allow=rules), preset="strict", sandboxed=True)
    return strict.verdict == "allow"


def named_in(rule: str, command: str) -> bool:
    """Whether the command has the name of the rule's program anywhere. A rule without a program counts as named."""
    return rule[5:-1].split(" ")[0].rpartition("/")[2].rstrip(":*") in command


def rules_to_try(command: str, beginnings: set[str]) -> list[str]:
    """Those that may allow the command. Most rules name other programs and do not: one question for all of them."""
    others = tuple(rule for rule in RULED if not named_in(rule, command))
    ruled = RULED if allowed_because_of(others, command) else [rule for rule in RULED if rule not in others]
    lengths = range(1, len(command) + 1)
    return [*ruled, *(f"bash({command[:length]})" for length in lengths if command[:length] in beginnings)]


def test_c32_whatever_a_rule_allows_the_same_rule_denies_and_asks_about() -> None:
    commands = {command for _, command in (*HOSTILE, *EVERYDAY)} | {each.command for each in CORPUS}
    commands |= {form.format(each) for form, each in product(WRAPPED, PROGRAMS)}
    words = {" ".join(command.split()[:length]) for command in commands for length in (1, 2)}
    plain = {each for each in words if each and not set(each) & set("|&;<>()$`\"'\\*?") and "#" not in each}
    loosened = 0
    some = sorted(commands)[:: 1 if "CODER_SOAK" in os.environ else 4]  # one by one, they take a quarter of a minute
    for command in (each for each in some if allowed_because_of(("bash",), each)):
        for rule in (each for each in rules_to_try(command, plain) if allowed_because_of((each,), command)):
            loosened += 1
            assert (verdict(command, deny=(rule,)), verdict(command, ask=(rule,))) == ("deny", "ask"), (rule, command)
    assert loosened > len(some)


@pytest.mark.quick
@pytest.mark.parametrize("form", WRAPPED)
def test_a_rule_was_bypassed_by_what_starts_the_program(form: str) -> None:
    for program, rule in (
        ("git push", "bash(git push)"),
        ("/usr/bin/git -C x push origin", "bash(git push)"),
        ("./denied.sh x", "bash(./denied.sh *)"),
        ("/usr/bin/foo x", "bash(/usr/bin/foo *)"),
        ("foo x", "bash(/usr/bin/foo *)"),
    ):
        command = form.format(program)
        assert verdict(command, allow=("bash",), deny=(rule,)) == "deny", command
        assert verdict(command, allow=("bash",), ask=(rule,)) == "ask", command


@pytest.mark.quick
@pytest.mark.parametrize(
    "command",
    [
        "./denied.sh x", "denied.sh x", "/ws/denied.sh x", "./sub/../denied.sh", "../ws/denied.sh", "$PWD/denied.sh",
        '"$PWD"/denied.sh', "${PWD}/denied.sh", "sh denied.sh", "bash ./denied.sh", "bash -x ./denied.sh a",
        ". ./denied.sh",
        "source denied.sh", "source /ws/denied.sh", "sh < denied.sh", "cat denied.sh | bash", './"denied.sh"',
        "./deni\\ed.sh",
        "./'denied'.sh", "$'./denied.sh' x", "cd sub && ../denied.sh", "cd .. && ws/denied.sh",
        "env -C sub ../denied.sh",
        "python3 denied.sh", "find . -exec ./denied.sh {} +", "ls | xargs ./denied.sh", "(cd x; ./denied.sh)",
    ],
)  # fmt: skip
def test_a_rule_on_a_path_never_matched(command: str) -> None:
    assert verdict(command, allow=("bash",), deny=("bash(./denied.sh *)",)) == "deny"
    assert verdict(command, allow=("bash",), ask=("bash(./denied.sh)",)) == "ask"


@pytest.mark.quick
@pytest.mark.parametrize(
    ("rule", "command", "likely"),
    [
        ("bash(git push)", "git -C x push", "deny"),
        ("bash(git push)", "git -c a=b push", "deny"),
        ("bash(git push)", "./bin/../git push", "deny"),
        ("bash(git push)", "g'i't push", "deny"),
        ("bash(git remote add)", "git remote -v add x", "deny"),
        ("bash(git push --force)", "git push origin main --force", "deny"),
        ("bash(rm -rf)", "rm -fr x", "deny"),
        ("bash(rm -rf)", "rm -r -f x", "deny"),
        ("bash(export)", "export X=1", "deny"),
        ("bash(git push)", "git $X", "ask"),
        ("bash(git push)", "xonsh -c '![git push]'", "ask"),
        ("bash(git push)", "nu -c 'do { git push }'", "deny"),
        ("bash(git push)", "$X push", "ask"),
        ("bash(git push)", '{git,push}', "ask"),
        ("bash(git push)", 'sh -c \'git "$@"\' x push', "ask"),
        ("bash(./denied.sh)", "./den*", "ask"),
        # What is something else is left alone.
        ("bash(./denied.sh)", "other/denied.sh", "allow"),
        ("bash(./denied.sh)", "cat denied.sh", "allow"),
        ("bash(/usr/bin/foo)", "/opt/foo", "allow"),
        ("bash(rm)", "docker rm x", "allow"),
        ("bash(git push)", "git log push", "allow"),
        ("bash(git push)", "echo git push", "allow"),
        ("bash(git push)", "git commit -m 'git push'", "allow"),
        ("bash(make install)", "make test", "allow"),
    ],
)  # fmt: skip
def test_a_rule_that_denies_means_the_program_and_its_words(rule: str, command: str, likely: str) -> None:
    assert verdict(command, allow=("bash",), deny=(rule,)) == likely


@pytest.mark.quick
@pytest.mark.parametrize(
    ("command", "likely"),
    [
        # What bash joins.
        ("g\\\nit push", "deny"), ("git pu\\\nsh", "deny"), ("# x \\\ngit push", "deny"),
        ("git >x push", "deny"), ("git 2>&1 push", "deny"), ("sudo 2>x git push", "deny"),
        ("git $'\\U00000070ush'", "deny"), ("git $'\\x{70}ush'", "deny"), ("$'\\147it' push", "deny"),
        # What bash reads as a command later.
        ("printf -v 'a[$(git push)]' x", "ask"), ("[[ -v 'a[$(git push)]' ]]", "ask"),
        ("x='a[`git push`]'; ((x))", "ask"), ("PS4='$(git push)'; set -x; true", "ask"),
        ('echo "${x:-`git push`}"', "ask"), ("shopt -s expand_aliases\nalias x='git push'\nx", "deny"),
        ("mapfile -C 'git push #' -c 1 < a", "deny"), ("hash -p /usr/bin/git x; x push", "deny"),
        # Texts that another shell runs.
        ("bash -cx 'git push'", "deny"), ("env -iS 'git push'", "deny"), ("su me -c'git push'", "deny"),
        ("su --command='git push'", "deny"), ("cat <<E | bash\ngit push\nE", "ask"), ("rbash -c 'git push'", "deny"),
        ("bash <(echo git push)", "ask"), (". /dev/stdin <<< 'git push'", "ask"),
        ("base64 -d <<< Z2l0IHB1c2g= | sh", "ask"), ("printf '%s\\n' 'git push' | bash -s", "ask"),
        # Other names and other starters of the same program.
        ("git-push", "deny"), ("/usr/lib/git-core/git-push origin", "deny"), ("git -c alias.p=push p", "ask"),
        ("nice -n5 -- git push", "deny"), ("uv run git push", "deny"), ("npm exec -- git push", "deny"),
        ("git submodule foreach git push", "deny"), ("git rebase --exec 'git push' x", "deny"),
        ("tmux new -d 'git push'", "deny"),
        # Where nobody can look.
        ("git push #" + " " * 70_000, "ask"), ("git push #\u200b", "ask"), ("true;" * 1900 + "git push", "deny"),
        ("env " + "a=1 " * 70 + "git push", "ask"), ("su " * 9 + "git push", "deny"),
        # Everyday work is not questioned because of it.
        ("cat a | bash script.sh", "allow"), ("awk '{print $(NF-1)}' x", "allow"), ("git stash push", "allow"),
        ("uv run pytest", "allow"), ("make \\\n  test", "allow"), ("git commit -m 'a `code` word'", "allow"),
        ("git cherry-pick -x abc", "allow"), ("ls 2>&1 | head", "allow"),
    ],
)  # fmt: skip
def test_a_denied_program_ran_under_another_spelling(command: str, likely: str) -> None:
    assert verdict(command, deny=("bash(git push)",)) == likely


@pytest.mark.quick
@pytest.mark.parametrize(
    ("command", "likely"),
    [
        # To the parser these are words of `time`.
        ("time { git push; }", "deny"), ("time ( git push )", "deny"), ("time ! git push", "deny"),
        ("time if true; then git push; fi", "deny"),
        # Texts that programs run.
        ("""python3 -c 'import os; os.system("git push")'""", "ask"), ("perl -e 'exec \"git\",\"push\"'", "ask"),
        ("awk 'BEGIN{system(\"git push\")}'", "ask"), ("sed 's/x/git push/e' a", "ask"),
        ("vim -es -c '!git push' -c q", "ask"), ("tar xf a --to-command='git push'", "ask"),
        ("make --eval='x:;git push' x", "ask"), ("rg --pre 'git push' x", "ask"),
        ("git rebase -x'git push' a", "ask"),
        ("git -c core.pager='git -C x push' log", "ask"), ("hyperfine --prepare 'git push' ls", "deny"),
        ("python3 - <<E\nimport os\nos.system('git push')\nE", "ask"), ("at now <<< 'git push'", "ask"),
        ("EDITOR='git push' git commit", "ask"), ("env EDITOR='git push' git commit", "ask"),
        ("GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0=push git x", "ask"),
        # Programs that start others, and words that they add.
        ("docker exec x git push", "ask"), ("kubectl exec x -- git push", "ask"), ("linux32 git push", "deny"),
        ("find . -name push -exec git {} +", "ask"), ("echo git push | xargs env", "ask"),
        ("printf 'git push' | xargs -I X bash -c X", "ask"), ("parallel ::: 'git push'", "deny"),
        # What only says or seeks it is left alone, and so is what has nothing to do with it.
        ("grep -rn 'git push' docs", "allow"), ("sed -n '/`git push`/p' README.md", "allow"),
        ("rg '`git push`' docs | head", "allow"), ("git commit -m 'use `git push` later'", "allow"),
        ("git commit --amend -m 'about git push'", "allow"), ("gh pr create --body 'then git push'", "allow"),
        ("bash -c \"grep -rn 'git push' docs\"", "allow"), ("nohup git commit -m 'git push'", "allow"),
        ("uv run git commit -m 'git push'", "allow"), ("cat > a.md <<'E'\nrun git push\nE", "allow"),
        ("python3 - <<'E'\nfor x in (1, 2):\n    print(x)\nE", "allow"), ("find . -exec git add {} +", "allow"),
        ("grep -rl 'git push' docs | xargs sed -i s/a/b/", "allow"), ("pytest -k 'git push'", "allow"),
    ],
)  # fmt: skip
def test_a_denied_program_ran_from_the_words_of_another(command: str, likely: str) -> None:
    assert verdict(command, allow=("bash",), deny=("bash(git push)",)) == likely


@pytest.mark.quick
def test_one_word_is_mentioned_in_texts_only() -> None:
    commands = ("python3 -c 'os.system(\"curl x\")'", "docker rm curl", "npm install curl", "git add curl")
    assert [verdict(each, deny=("bash(curl)",)) for each in commands] == ["ask", "allow", "allow", "allow"]


def test_a_link_to_a_program_that_a_rule_denies(tmp_path: Path) -> None:
    folder = str(tmp_path)
    (tmp_path / "denied.sh").write_text("#!/bin/sh\n")
    (tmp_path / "inner").symlink_to("denied.sh")
    (tmp_path / "outer").symlink_to("inner")
    (tmp_path / "folder").symlink_to(".")
    (tmp_path / "g").symlink_to(shutil.which("git") or "/usr/bin/git")
    (tmp_path / "innocent").write_text("#!/bin/sh\n")
    rules = read_rules(("bash",), (), ("bash(./denied.sh *)", "bash(git push)"))

    def judged(command: str) -> str:
        facts = facts_about(command, (folder,), rules, os.path.expanduser("~"))
        return judge_command(command, "default", (folder,), rules, sandboxed=True, facts=facts).verdict

    commands = ("./outer x", "sh inner", "folder/denied.sh", f"{folder}/folder/inner", "sh -c './inner'", "./g push")
    assert {each: judged(each) for each in commands} == dict.fromkeys(commands, "deny")
    assert [judged(each) for each in ("./innocent", "./g status")] == ["allow", "allow"]


def test_c32_a_denied_script_ran_through_the_front_door(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "denied.sh").write_text("#!/bin/sh\n")
    (folder / "link").symlink_to("denied.sh")
    coder = Coder(tmp_path / "home", folder, None)
    coder.home.mkdir()
    (coder.home / "config.json").write_text(
        '{"permissions.allow": ["bash"], "permissions.deny": ["bash(./denied.sh *)"]}'
    )
    said = {each: coder.run("permissions", "check", each).out for each in ("./denied.sh x", "sh link", "./other.sh")}
    assert said == {
        "./denied.sh x": "deny: denied by the rule ./denied.sh\n",
        "sh link": "deny: denied by the rule ./denied.sh\n",
        "./other.sh": "allow: a rule allows it\n",
    }
