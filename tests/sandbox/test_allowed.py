"""From inside a confined command: what must work works."""

import asyncio
import os
import shutil
import socket
import sys
import venv
from pathlib import Path

import pytest

from coderelay.workspace.sandbox.sandbox_backend import SandboxBackend
from tests.house import story
from tests.sandbox.confined import confined

REAL_HOME = Path.home()
SERVER = f"{sys.executable} -I -u -m http.server --bind 127.0.0.1"
# Without curl, which not every machine has.
FETCH = f'{sys.executable} -I -c "import sys, urllib.request as r; print(r.urlopen(sys.argv[1]).read().decode())"'
CARGO = REAL_HOME / ".cargo/bin/cargo"
PYENV = REAL_HOME / ".pyenv/shims/python3"
MAVEN_COMPILER = REAL_HOME / ".m2/repository/org/apache/maven/plugins/maven-compiler-plugin/3.15.0"
POM = """
<project><modelVersion>4.0.0</modelVersion><groupId>a</groupId><artifactId>a</artifactId><version>1</version>
<properties><maven.compiler.source>8</maven.compiler.source><maven.compiler.target>8</maven.compiler.target>
</properties><build><plugins>
<plugin><artifactId>maven-compiler-plugin</artifactId><version>3.15.0</version></plugin>
<plugin><artifactId>maven-resources-plugin</artifactId><version>3.5.0</version></plugin>
</plugins></build></project>
"""


@story
async def test_temporary_files_and_caches_are_shared_by_the_commands_of_a_session(
    tmp_path: Path, backend: SandboxBackend
):
    async with confined(tmp_path, backend) as inside:
        await inside.output('echo one > "$TMPDIR/a"; mkdir -p "$XDG_CACHE_HOME" && echo two > "$XDG_CACHE_HOME/b"')
        assert await inside.output('cat "$TMPDIR/a" "$XDG_CACHE_HOME/b"') == "one\ntwo\n"
        temporary = await inside.output('stat -c %a "$TMPDIR"')
        assert temporary == "700\n"
    async with confined(tmp_path, backend) as later:
        seen = await later.bash('cat "$XDG_CACHE_HOME/b" "$TMPDIR/a"')
        assert (seen.output.startswith("two\n"), "No such file" in seen.output) == (True, True)
    assert [name for name in os.listdir(later.coder_home / "sandboxes") if not name.startswith(".")] == []


@story
async def test_the_temporary_folder_has_its_usual_name(tmp_path: Path, bubblewrap: SandboxBackend):
    async with confined(tmp_path, bubblewrap) as inside:
        await inside.output("echo one > /tmp/a; echo two > /var/tmp/b")
        assert await inside.output("cat /tmp/a /tmp/b; echo $TMPDIR") == "one\ntwo\n/tmp\n"
    assert not Path("/tmp/a").exists()


@story
async def test_a_server_in_the_background_answers_the_next_command(tmp_path: Path, bubblewrap: SandboxBackend):
    async with confined(tmp_path, bubblewrap) as inside:
        (inside.work / "page").write_text("hello")
        server = await inside.start(f"{SERVER} 8123")
        said = ""
        while "Serving" not in said:
            assert not server.is_over
            said += server.take_output()
            await asyncio.sleep(0.005)
        assert await inside.output(f"{FETCH} http://127.0.0.1:8123/page") == "hello\n"
        await server.stop()


@story
async def test_only_the_right_to_the_network_opens_it(tmp_path: Path, backend: SandboxBackend):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        async with confined(tmp_path, backend) as inside:
            connect = f"exec 3<>/dev/tcp/127.0.0.1/{port} && echo reached"
            assert (await inside.bash(connect)).exit_code == 1
            assert await inside.output(connect, "network") == "reached\n"
            assert (await inside.bash(connect)).exit_code == 1
            refused = await inside.bash("touch ~/x; touch .vscode/x", "network")
            assert (refused.exit_code, os.listdir(inside.home)) == (1, [])


@story
async def test_command_with_the_right_outside_can_write_the_home_folder(tmp_path: Path, backend: SandboxBackend):
    async with confined(tmp_path, backend) as inside:
        await inside.output("touch ~/made", "outside")
        assert os.listdir(inside.home) == ["made"]


@story
async def test_pytest_runs(tmp_path: Path, backend: SandboxBackend):
    async with confined(tmp_path, backend) as inside:
        (inside.work / "test_it.py").write_text("def test_it(tmp_path):\n    (tmp_path / 'a').write_text('b')\n")
        output = await inside.output(f"{sys.executable} -m pytest -q -p no:xdist test_it.py")
        assert "1 passed" in output


@pytest.mark.skipif(not PYENV.exists(), reason="pyenv is not in this home")
@story
async def test_a_python_in_home_makes_environments_and_runs_them(tmp_path: Path, backend: SandboxBackend):
    async with confined(tmp_path, backend, home=REAL_HOME) as inside:
        output = await inside.output(f"{PYENV} -m venv --without-pip env && env/bin/python -c 'print(6 * 7)'")
        assert output == "42\n"


@pytest.mark.skipif(not CARGO.exists(), reason="cargo is not in this home")
@story
async def test_cargo_in_home_builds_a_crate(tmp_path: Path, backend: SandboxBackend):
    async with confined(tmp_path, backend, home=REAL_HOME) as inside:
        (inside.work / "src").mkdir()
        (inside.work / "src/main.rs").write_text('fn main() { println!("built"); }')
        (inside.work / "Cargo.toml").write_text('[package]\nname = "tiny"\nversion = "0.1.0"\nedition = "2021"\n')
        assert (await inside.output(f"{CARGO} run -q --offline")).splitlines()[-1] == "built"


@pytest.mark.skipif(not MAVEN_COMPILER.exists() or shutil.which("mvn") is None, reason="maven is not ready here")
@story
async def test_maven_compiles_with_what_is_in_home(tmp_path: Path, backend: SandboxBackend):
    async with confined(tmp_path, backend, home=REAL_HOME) as inside:
        (inside.work / "src/main/java").mkdir(parents=True)
        (inside.work / "src/main/java/A.java").write_text("class A {}")
        (inside.work / "pom.xml").write_text(POM)
        done = await inside.bash("mvn -o -q compile")
        if "Cannot access" in done.output and "offline mode" in done.output:
            pytest.skip("its plugins were never downloaded here")
        assert (done.exit_code, (inside.work / "target/classes/A.class").exists()) == (0, True), done.output


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
@story
async def test_npm_runs_a_script(tmp_path: Path, backend: SandboxBackend):
    async with confined(tmp_path, backend, home=REAL_HOME) as inside:
        (inside.work / "package.json").write_text('{"scripts": {"hello": "node -p 40+2"}}')
        assert (await inside.output("npm run -s hello")).splitlines()[-1] == "42"


@story
async def test_an_environment_in_the_workspace_is_used_and_can_be_changed(tmp_path: Path, backend: SandboxBackend):
    async with confined(tmp_path, backend) as inside:
        await asyncio.to_thread(venv.create, inside.work / ".venv", symlinks=True)
        output = await inside.output(".venv/bin/python -c 'import sys; print(sys.prefix)'; touch .venv/new")
        assert output == f"{inside.work}/.venv\n"
