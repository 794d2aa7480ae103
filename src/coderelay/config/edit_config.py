"""Edit configuration files: MCP servers in the person's file, the model in a folder's. Other keys stay."""

import fcntl
import os
import re
import stat
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import zip_longest
from typing import Any, cast
from urllib.parse import parse_qsl, urlsplit

import msgspec

from coderelay.config.config_paths import folder_file, person_file
from coderelay.config.folder_override_rules import rule_of
from coderelay.config.parse_config import parse_object, read_document
from coderelay.config.read_config_bytes import open_beneath, read_folder_file, read_person_file
from coderelay.config.secrets_in_settings import REFERENCE, names_secret
from coderelay.config.settings import is_to_come
from coderelay.protocol.errors import BadInput
from coderelay.protocol.ids import new_id
from coderelay.protocol.text_escaping_and_width import display_path, escaped
from coderelay.protocol.translatable import say
from coderelay.workspace.files.atomic_write import replace, write_whole
from coderelay.workspace.processes.environment import LOGIN_IN_ADDRESS

Tree = dict[str, Any]
_KEY = "mcp_servers"
_SECRET_OPTION = re.compile(
    r"--?(?:\w+[-_])*(?:(?:api|access|auth|secret)[-_]?key|token|secret|password|passphrase)", re.I
)
_INDENT = re.compile(rb"\n( +|\t)\"")
_IGNORED = b"/.gitignore\n/config.json\n/sessions/\n"


def add_server(home: str, name: str, entry: Mapping[str, Any]) -> None:
    """Add an MCP server to the person's file. Raises BadInput, and then nothing has changed."""
    for kind in ("env", "headers"):
        _refuse_secrets(kind, entry.get(kind, {}))
    _refuse_secret_arguments(entry.get("args", ()))
    _refuse_secrets_in_address(entry.get("url", ""))

    def change(tree: Tree) -> None:
        if _take(tree, name):
            raise BadInput(
                say("MCP server {name} already exists", name=repr(name)),
                say("Remove it with `coder mcp remove {name}`.", name=name),
            )
        tree.setdefault(_KEY, {})[name] = dict(entry)

    _change(home, change)


def remove_server(home: str, name: str) -> None:
    """Remove an MCP server from the person's file. Raises BadInput."""

    def change(tree: Tree) -> None:
        if not _take(tree, name):
            raise BadInput(
                say("no MCP server {name} in {file}", name=repr(name), file=display_path(person_file(home)))
            )

    _change(home, change)


def set_key(home: str, key: str, value: Any) -> None:
    """Set a key in the person's file, or take it out if the value is None. Raises BadInput, and then nothing has
    changed."""
    path = tuple(key.split("."))
    if is_to_come(path):
        raise BadInput(say("{key} is not available yet", key=escaped(key)))
    if path[0] == _KEY:
        raise BadInput("MCP servers are set up with `coder mcp add` and `coder mcp remove`")
    if not key or rule_of(path) is None:
        raise BadInput(say("there is no setting {key}", key=repr(key)), "/config lists all settings.")

    def change(tree: Tree) -> None:
        _take_out(tree, path)
        if value is not None:
            tree[key] = value

    _change(home, change)


def _take_out(tree: Tree, path: tuple[str, ...]) -> None:
    """Remove a key, whether it is nested or dotted, and the objects that it leaves empty."""
    for at in range(1, len(path) + 1):
        name, rest = ".".join(path[:at]), path[at:]
        if name not in tree:
            continue
        if not rest:
            del tree[name]
        elif isinstance(inner := tree[name], dict):
            _take_out(cast(Tree, inner), rest)
            if not inner:
                del tree[name]


def _refuse_secrets(kind: str, values: Mapping[str, str]) -> None:
    for name, value in values.items():
        if names_secret(name) and not re.fullmatch(REFERENCE, value):
            raise _refused(name, f"--env {name}" if kind == "env" else f"--header '{name}: ${{VARIABLE}}'")


def _refuse_secret_arguments(args: Sequence[str]) -> None:
    """Refuse `--token=…` and `--token …`. Options that name a file or a variable (`--token-file`) are allowed."""
    for option, behind in zip_longest(args, args[1:], fillvalue="-"):
        name, equals, value = option.partition("=")
        value = value if equals else behind
        if _SECRET_OPTION.fullmatch(name) and not value.startswith("-") and not value.isdigit():
            raise _refused(name, "--env NAME, if the program takes it from there")


def _refuse_secrets_in_address(url: str) -> None:
    if LOGIN_IN_ADDRESS.search(url):
        raise _refused("the login in the address", "--header 'Authorization: Basic ${VARIABLE}'")
    for name, _ in parse_qsl(urlsplit(url).query):
        if names_secret(name):
            raise _refused(name, "--header 'Authorization: Bearer ${VARIABLE}'")


def _refused(name: str, instead: str) -> BadInput:
    return BadInput(
        say("{name} looks like a secret, which should not be stored in a file", name=escaped(name)),
        say("Put it into an environment variable, and give {example}.", example=instead),
    )


def _take(tree: Tree, name: str) -> bool:
    """Remove the server, whether its key was nested or dotted. Returns whether there was one."""
    dotted = [key for key in tree if f"{key}.".startswith(f"{_KEY}.{name}.")]
    for key in dotted:
        del tree[key]
    servers: Any = tree.get(_KEY)
    if not isinstance(servers, dict) or name not in servers:
        return bool(dotted)
    del cast(Tree, servers)[name]
    if not servers:
        del tree[_KEY]
    return True


def _change(home: str, change: Callable[[Tree], None]) -> None:
    path = os.path.realpath(person_file(home))  # may be a link: people keep such files elsewhere
    try:
        os.makedirs(home, mode=0o700, exist_ok=True)
        lock = os.open(home, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)  # two processes at once would lose one of the changes
            _write(path, _changed(read_person_file(home) or b"", path, change))
        finally:
            os.close(lock)
    except OSError as error:
        raise BadInput(say("cannot write {path}: {why}", path=display_path(path), why=error.strerror)) from error


def _write(path: str, content: bytes) -> None:
    if not os.path.exists(path):
        write_whole(path, content, 0o600)
        return
    above, name = os.path.split(path)
    folder = os.open(above, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        replace(folder, name, content, os.stat(path), lambda: None)
    finally:
        os.close(folder)


def _changed(before: bytes, path: str, change: Callable[[Tree], None]) -> bytes:
    read_document(before, path)
    tree = parse_object(before, display_path(path))
    change(tree)
    try:
        content = msgspec.json.encode(tree)
    except UnicodeEncodeError as error:
        raise BadInput(say("{text} is not UTF-8", text=escaped(str(error.object)))) from error
    found = _INDENT.search(before)
    indent = len(found[1]) if found is not None and found[1] != b"\t" else 2
    content = msgspec.json.format(content, indent=indent) + b"\n"
    read_document(content, path)
    return content


def remember_model(folder: str, model: str) -> str | None:
    """Store the model in the folder's file, for later sessions. Returns a warning if that fails, rather than raising,
    since the model is in use already."""
    path = folder_file(folder)
    try:
        _write_model(folder, path, model)
    except BadInput as refused:
        return say("the model was not saved for later sessions: {problem}", problem=refused)
    except OSError as error:
        why = say("cannot write {path}: {why}", path=display_path(path), why=error.strerror)
        return say("the model was not saved for later sessions: {problem}", problem=why)
    return None


def _write_model(folder: str, path: str, model: str) -> None:
    before = read_folder_file(folder)
    tree = parse_object(before or b"", display_path(path))
    if tree.get("model") == model:
        return
    tree["model"] = model
    try:
        content = msgspec.json.format(msgspec.json.encode(tree), indent=2) + b"\n"
    except UnicodeEncodeError as error:
        raise BadInput(
            say(
                "the model name {model} cannot be written to {path}, because it is not valid text",
                path=display_path(path),
                model=escaped(model),
            )
        ) from error
    with suppress(FileExistsError):
        os.mkdir(os.path.dirname(path), 0o700)
    with open_beneath(folder, path) as (parent, name):
        if before is None:
            _ignore_in_git(parent)
        _replace(parent, name, content, 0o600)


def _ignore_in_git(parent: int) -> None:
    """Add a .gitignore if there is none. Not for a folder that brings a configuration of its own: that one is left as
    its owner wants it."""
    if ".gitignore" not in os.listdir(parent):
        _replace(parent, ".gitignore", _IGNORED, 0o644)


def _replace(parent: int, name: str, content: bytes, mode: int) -> None:
    """Replace a file in the open folder `parent` atomically, with the mode it had before."""
    with suppress(FileNotFoundError):
        mode = stat.S_IMODE(os.stat(name, dir_fd=parent, follow_symlinks=False).st_mode)
    beside = f"{name}.{new_id()}.tmp"
    file = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600, dir_fd=parent)
    try:
        with os.fdopen(file, "wb") as opened:
            opened.write(content)
            os.fchmod(file, mode)
        os.replace(beside, name, src_dir_fd=parent, dst_dir_fd=parent)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(beside, dir_fd=parent)
        raise
