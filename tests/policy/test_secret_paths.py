"""Where secrets are kept: one table for file tools, commands and the sandbox; and no back door to it."""

import subprocess
from pathlib import Path

import pytest

from coderelay.host.shell_command_disk_facts import facts_about
from coderelay.policy.judge import Policy, judge
from coderelay.policy.rules import Rules
from coderelay.policy.shell.command_verdict import judge_command
from coderelay.protocol.calls import Need
from coderelay.protocol.secret_paths import places_at_home, secret_beneath_home, secret_place
from coderelay.tools.builtin_tools import SPECS
from tests.coder_process import Coder
from tests.policy.rule_parsing import read_rules

SECRET = [
    ".env", ".env.local", ".env.production", ".env.production.local", ".env.development.local", ".env.test.local",
    ".env.test", ".env.testing", ".env.staging", ".env-prod", ".ENV", "sub/.env", ".env.example.local", ".ssh/config",
    "id_ed25519", "keys/id_rsa", ".npmrc", ".netrc", ".pgpass", ".aws/credentials", ".docker/config.json",
    ".kube/config",
    ".config/gcloud/x", ".git-credentials", ".coder/web.token", ".env~", ".env.local~", ".npmrc~",
]  # fmt: skip
PLAIN = [
    ".env.example", ".env.dist", ".env.template", ".env.sample", ".env.local.example", ".env.production.sample",
    ".env.test.dist", ".env.defaults", "src/environ", "src/env.py", "my.env.md", ".envrc", "environment", "id_card",
    ".docker/Dockerfile", ".config/nvim/init.lua", ".claude/commands/x.md", ".cursor/rules", "x.env.ts",
    ".env.example~", ".envrc~", "src/.yarnrc.yml", ".vercel/project.json",
]  # fmt: skip


@pytest.mark.quick
@pytest.mark.parametrize(("path", "secret"), [*((each, True) for each in SECRET), *((each, False) for each in PLAIN)])
def test_file_tools_and_commands_disagreed_about_where_secrets_are(path: str, secret: bool) -> None:
    read = Need(tool="read", kind="read", title=path, paths=(f"/ws/{path}",))
    (tool,) = judge([read], Policy("default", SPECS, folders=("/ws",)))
    commands = [f"cat {path}", f"head -5 ./{path}", f'cat "{path}"', f"cat < {path}", f"cat /ws/{path}"]
    shell = {judge_command(each, "default", ("/ws",), sandboxed=True).verdict for each in commands}
    assert (secret_place(path) is not None, tool.verdict, shell) == (
        (True, "ask", {"ask"}) if secret else (False, "allow", {"allow"})
    )


@pytest.mark.quick
@pytest.mark.parametrize("name", [".env:bak", ".env,", ".env@prod", ".env copy", ".env+", "#.env#", ".netrc,old"])
def test_a_name_ended_at_other_characters_for_read_than_for_cat(name: str) -> None:
    read = Need(tool="read", kind="read", title=name, paths=(f"/ws/{name}",))
    (tool,) = judge([read], Policy("default", SPECS, folders=("/ws",)))
    shell = [judge_command(each, "default", ("/ws",)).verdict for each in (f"cat '{name}'", f"cat < 'sub/{name}'")]
    assert (tool.verdict, shell) == ("ask", ["ask", "ask"])


HOME = "/home/me"


def ways_to_read(path: str, folder: str) -> dict[str, str]:
    """The verdict on each way to read a path: by the tool, and by commands that name it from the folder and from the
    root."""
    (tool,) = judge(
        [Need(tool="read", kind="read", title=path, paths=(path,))],
        Policy("default", SPECS, folders=(folder,), home=HOME),
    )
    found = {"read": tool.verdict}
    for name in (path, path.removeprefix(f"{folder}/")):
        for command in (f"cat {name}", f"grep tok {name}", f"grep -r tok {name}", f"wc < {name}"):
            for sandboxed in (True, False):
                judged = judge_command(command, "default", (folder,), sandboxed=sandboxed, home=HOME)
                found[f"{command} ({sandboxed=})"] = judged.verdict
    return found


@pytest.mark.quick
@pytest.mark.parametrize("folder", [f"{HOME}/work", HOME, f"{HOME}/.config", f"{HOME}/.docker"])
def test_what_read_asks_about_at_home_was_shown_by_cat_and_grep(folder: str) -> None:
    for place in places_at_home():
        written = place.replace("*", "x")
        for path in (f"{HOME}/{written}", f"{HOME}/{written}/y", f"{HOME}/{written.upper()}"):
            ways = ways_to_read(path, folder)
            assert ways == dict.fromkeys(ways, "ask"), (folder, path)


@pytest.mark.quick
def test_what_is_no_secret_at_home_is_shown_without_a_question() -> None:
    for folder, name in (
        (HOME, "notes.txt"), (HOME, ".bashrc"), (HOME, ".config/nvim/init.lua"), (HOME, "work/.claude/x"),
        (f"{HOME}/.config", "nvim/init.lua"), (f"{HOME}/.claude", "CLAUDE.md"), (f"{HOME}/work", ".azure/x"),
        (f"{HOME}/work", ".bash_history"),
    ):  # fmt: skip
        ways = ways_to_read(f"{folder}/{name}", folder)
        assert ways == dict.fromkeys(ways, "allow"), (folder, name)
    for command in ("ls -la", "grep -r --exclude=.claude x work", "echo *"):
        assert judge_command(command, "default", (HOME,), sandboxed=True, home=HOME).verdict == "allow"


@pytest.mark.quick
@pytest.mark.parametrize(
    "command",
    [
        "cat .bash_h*", "cat .*_history", "cat .az*/x", "cat .config/g?/hosts.yml", "cat ./.azure/x", "cat .azure//x",
        "head -c9 .config/./gh/hosts.yml", "for x in .azure; do cat $x/y; done", "cat '.bash_history'",
        "cd .config; cat gh/hosts.yml", "diff .python_history x", "grep -f.bash_history x", "sort < .lesshst",
        "cat .zsh_history~", "cat .config/gcloud/x", "ls .mozilla", "cd a; cd b; cd c; cd d; cd e; cd f; cat x",
    ],
)  # fmt: skip
def test_a_place_at_home_was_read_under_another_spelling(command: str) -> None:
    assert judge_command(command, "default", (HOME,), sandboxed=True, home=HOME).verdict == "ask"


@pytest.mark.quick
@pytest.mark.parametrize("folder", ["/ws", f"{HOME}/work", HOME])
def test_a_rule_on_a_program_covered_a_secret_beneath_home(folder: str) -> None:
    rules = read_rules(("bash(cat)", "bash(cat /home/me/.lesshst)"))

    def verdict(command: str) -> str:
        return judge_command(command, "default", (folder,), rules, sandboxed=True, home=HOME).verdict

    secret = ("cat /home/me/.bash_history", "cat a ../../../../home/me/.azure/x", "cat /home/me/.config/gh/hosts.yml")
    plain = ("cat /home/me/.lesshst", "cat /etc/hosts", "cat a")
    assert {each: verdict(each) for each in secret} == dict.fromkeys(secret, "ask")
    assert {each: verdict(each) for each in plain} == dict.fromkeys(plain, "allow")


@pytest.mark.quick
def test_the_environment_of_a_process_is_a_secret_and_a_file_called_so_is_none() -> None:
    assert (secret_place("/proc/self/environ"), secret_place("/ws/src/environ")) == ("proc/self/environ", None)


@pytest.mark.quick
def test_what_the_sandbox_hides_at_home_is_asked_about_by_file_tools() -> None:
    for place in places_at_home():
        path = f"/home/me/{place.replace('*', 'x')}/y"
        assert secret_place(path[8:]) or secret_beneath_home(path, "/home/me"), place
    assert secret_beneath_home("/home/me/.claude/x", "/home/me", ("/home/me/.claude",)) is None
    need = Need(tool="read", kind="read", title="x", paths=("/home/me/.mozilla/x",))
    (verdict,) = judge([need], Policy("default", SPECS, folders=("/home/me",), home="/home/me"))
    assert (verdict.verdict, verdict.reason) == ("ask", ".mozilla may hold secrets")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    for name, text in {
        ".env": "KEY=1",
        ".gitignore": ".env\n",
        "src/a.py": "KEY",
        "src/.env.example": "KEY=",
        "conf/.env.production.local": "KEY=2",
        "keys/id_rsa": "KEY",
        "plain/.npmrc": "registry=https://x.example",
        "token/.npmrc": "//x.example/:_authToken=abc",
        ".coder/config.json": "{}",
        "node_modules/x/.npmrc": "_auth=x",
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "notes.txt").symlink_to(".env")
    (folder / "deep").mkdir()
    (folder / "deep" / "link").symlink_to("../.env")
    (folder / "deep" / "folder").symlink_to("../conf")
    return folder


def judged(command: str, folder: Path, rules: Rules | None = None) -> str:
    known = rules or Rules()
    facts = facts_about(command, (str(folder),), known, "/home/me")
    return judge_command(command, "default", (str(folder),), known, sandboxed=True, facts=facts).verdict


@pytest.mark.parametrize("place", [*places_at_home()])
def test_a_search_at_home_showed_what_read_asks_about(place: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    folder = home / place.replace("*", "x")
    folder = folder.parent if place == ".npmrc" else folder
    folder.mkdir(parents=True)
    (folder / (".npmrc" if place == ".npmrc" else "sessions.db")).write_text("_authToken=tok")
    (home / "work").mkdir()
    (home / "work" / "a.py").write_text("tok")

    def verdict(command: str, start: Path) -> str:
        facts = facts_about(command, (str(start),), Rules(), str(home))
        return judge_command(command, "default", (str(start),), home=str(home), facts=facts).verdict

    above = home / place.split("/")[0] if "/" in place else home
    searches = ("grep -r tok .", "rg -uu tok", "find . -type f -exec cat {} +")
    assert {verdict(each, start) for each in searches for start in (home, above)} == {"ask"}
    assert verdict("grep -r tok work", home) == "allow"


def test_a_search_at_home_was_allowed_at_the_front_door(tmp_path: Path) -> None:
    home = tmp_path / "person"
    (home / ".config" / "gh").mkdir(parents=True)
    (home / ".config" / "gh" / "hosts.yml").write_text("oauth_token: tok\n")
    coder = Coder(tmp_path / "home", home / ".config", None)
    said = {each: coder.run("permissions", "check", each).out for each in ("cat gh/hosts.yml", "grep -r tok .")}
    assert said == {
        "cat gh/hosts.yml": "ask: it would show .config/gh, which may hold secrets\n",
        "grep -r tok .": "ask: it would show .config/gh, which may hold secrets\n",
    }


BACK_DOORS = [
    "grep -r KEY .", "grep -rn KEY", "grep -R KEY deep", "grep -r KEY conf", "grep -r KEY keys", "egrep -r KEY .",
    "grep -r --include=.env* KEY .", "grep -r --exclude=.env KEY .", "timeout 5 grep -r KEY .",
    "cd src && grep -r KEY ..",
    "cd conf && grep -r KEY .", "rg -uu KEY", "rg --hidden KEY", "rg -. KEY", "rg -u -u KEY", "rg -uuu KEY",
    "rg KEY keys",
    "rg -g '.e*' KEY", "rg --glob=.env* KEY", "rg -L --hidden KEY deep", "cat notes.txt", "head -1 notes.txt",
    "sort notes.txt",
    "sed -n 1p notes.txt", "awk 1 notes.txt", "cat deep/link", "cat deep/*", "cat *", "cat < notes.txt",
    "diff -r src conf",
    "diff notes.txt src/a.py", "find . -type f -exec cat {} +", "find conf -exec head {} +",
    "find -L deep -exec cat {} +",
    "find . -name '.e*' -exec cat {} +", "base64 notes.txt", "for x in notes.txt; do cat $x; done", "xxd notes.txt",
    "grep -r KEY token", "cat keys/*", "git grep --untracked KEY",
    # Which names a search leaves out is not what it looks like.
    "grep -d recurse KEY .", "grep -r --exclude-dir=.env KEY .", "grep -r --exclude=foo --include='*.py' KEY .",
    "grep -r --include='*.py' --exclude='.e*' --include='.en*' KEY .", "grep -r --include='.[^x]nv' KEY .",
    "grep -r --include='.e\\nv' KEY .", "grep -r --include='.[[:alpha:]]nv' KEY .", "rg --hidden -g '!.git/' KEY",
    "rg --hidden -g '!src/*' KEY", "rg --hidden -g '!**/node_modules/**' KEY", "rg -g '.[^x]nv' KEY",
    "rg --iglob '.EN?' KEY", "rg -ig '.e*' KEY", "rg -g '.e\\nv' KEY", "rg -g '!.e*' -g '.en*' KEY",
    "rg --hidden -e KEY -- --files .", "find . -iname '.EN?' -exec cat {} +",
    "find . -name '.[^x]nv' -exec cat {} +", "diff -N . src", "diff -u src .",
]  # fmt: skip
QUIET = [
    "grep -r KEY src", "grep -rn KEY src --include=*.py", "grep -r --include=*.py KEY .", "rg KEY src", "rg KEY deep",
    "grep -r KEY deep", "grep -r --exclude=.env* --exclude-dir=keys --exclude=.npmrc KEY .", "rg -uu -g '*.py' KEY",
    "find . -name '*.py' -exec cat {} +", "find . -type f", "ls -la", "ls -R .", "ls *", "wc -l *", "cat src/a.py",
    "cat src/*", "git grep KEY", "git diff", "git log -p", "git show", "grep KEY src/a.py", "grep -r KEY plain",
    "du -sh *", "tree", "rg --files --hidden", "find . -name .npmrc.x", "grep -r x node_modules", "git log --oneline",
    "grep -r --include=*.py --exclude=b.py KEY .", "rg --hidden -g '!.git/' KEY src", "rg -g '*.py' -g '!a.py' KEY",
    "rg --hidden -g '!.env*' -g '!keys' -g '!.npmrc' KEY", "diff src/a.py src/.env.example", "grep -d skip KEY src/*",
]  # fmt: skip


@pytest.mark.parametrize("command", BACK_DOORS)
def test_secret_file_was_read_without_a_question(command: str, folder: Path) -> None:
    assert judged(command, folder) == "ask"


@pytest.mark.parametrize("command", QUIET)
def test_nobody_is_asked_where_no_secret_can_be_met(command: str, folder: Path) -> None:
    assert judged(command, folder) == "allow"


def test_git_shows_a_secret_that_it_has(folder: Path) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True)

    shows = (
        "git grep KEY", "git diff", "git show", "git log -p", "git stash show -p", "git diff --stat -p",
        "git log -U3", "git log --binary", "git show -s abcd1234", "git cat-file -p abcd1234", "git diff -- '.e*'",
        "git diff -- ':/'", "git grep KEY -- '*'", "git diff-files -U3", "git diff HEAD -- .env",
    )  # fmt: skip
    names = (
        "git diff --stat", "git log", "git show --name-only", "git diff -- src", "git status", "git ls-files",
        "git cat-file -t abcd1234", "git cat-file -p HEAD", "git show --stat HEAD", "git log --oneline -5",
    )  # fmt: skip
    git("init", "-q")
    git("add", "src", "plain")
    assert {judged(each, folder) for each in (*shows[:-1], *names)} == {"allow"}
    git("add", "-f", ".env")
    assert [each for each in shows if judged(each, folder) != "ask"] == []
    assert [each for each in names if judged(each, folder) != "allow"] == []
    git("update-index", "--index-version", "4")
    assert judged("git grep KEY", folder) == "ask"
    git("rm", "-q", "--cached", ".env")
    assert judged("git grep KEY", folder) == "allow"
    (folder / ".ssh").mkdir()
    (folder / ".ssh" / "config").write_text("KEY")
    git("add", "-f", ".ssh/config")
    assert judged("git grep KEY", folder) == "ask"


def test_a_tree_that_is_too_large_is_asked_about(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("coderelay.host.secrets_shown_by_command._MOST_ENTRIES", 3)
    assert judged("grep -r KEY src/", folder) == "allow"
    for at in range(9):
        (folder / "src" / f"{at}.py").touch()
    assert judged("grep -r KEY src/", folder) == "ask"


def test_a_rule_on_a_program_covers_no_secret_it_does_not_name(folder: Path) -> None:
    rules = read_rules(("bash(grep)", "bash(cat)"))
    assert [judged(each, folder, rules) for each in ("grep -r KEY .", "cat notes.txt")] == ["ask", "ask"]
    assert judged("grep -r KEY .", folder, read_rules(("bash(grep -r KEY .)",))) == "allow"
    assert judged("grep -r KEY .", folder, read_rules(("bash",))) == "allow"


def test_a_link_to_a_secret_was_read_through_the_front_door(tmp_path: Path, folder: Path) -> None:
    coder = Coder(tmp_path / "home", folder, None)
    said = {each: coder.run("permissions", "check", each).out for each in ("cat notes.txt", "grep -r KEY .", "ls")}
    assert said == {
        "cat notes.txt": "ask: it would show .env, which may hold secrets\n",
        "grep -r KEY .": "ask: it would show .env, which may hold secrets\n",
        "ls": "allow: it only reads\n",
    }
