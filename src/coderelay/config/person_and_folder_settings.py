"""Read the two configuration files, and combine the settings of the folder's file with those of the person's."""

import os
from typing import Any, cast

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from coderelay.config.config_paths import FILE, OWN_FOLDER, folder_file, person_file
from coderelay.config.folder_override_rules import Path, keys_in, rule_of
from coderelay.config.mcp_json import MCP_FILE, mcp_json_file, mcp_json_servers
from coderelay.config.parse_config import read_document
from coderelay.config.read_config_bytes import read_folder_file, read_person_file
from coderelay.config.settings import TO_COME, Settings, is_to_come
from coderelay.protocol.errors import BadInput
from coderelay.protocol.text_escaping_and_width import display_path, escaped
from coderelay.protocol.translatable import say

Tree = dict[str, Any]


def person_settings(home: str) -> Settings | None:
    """The settings in the person's file, or None if there is no file."""
    content = read_person_file(home)
    return None if content is None else _available(content, person_file(home))[1]


def person_keys(home: str) -> set[str]:
    """The keys that the person's file sets. Raises BadInput."""
    content = read_person_file(home)
    tree = {} if content is None else _available(content, person_file(home))[0]
    return {".".join(key) for key, _ in keys_in(tree)}


def folder_keys(home: str, folder: str) -> dict[str, str]:
    """The keys that the folder's files set, each with its file, as a path in the folder. Raises BadInput."""
    tree, own = _folder_tree(home, folder)
    return {key: _file_of(key, own) for key in (".".join(path) for path, _ in keys_in(tree or {}))}


class LayeredSettings(Struct, frozen=True):
    """The settings that apply in a folder if `untrusted`, and if `trusted`. `needs_trust` holds the keys of
    the folder's files, as written there, that count only if the folder is trusted; `files` has the file of each of
    them, as a path in the folder."""

    untrusted: Settings
    trusted: Settings
    needs_trust: Tree
    files: dict[str, str] = {}


def folder_settings(home: str, folder: str, mine: Settings) -> LayeredSettings | None:
    """None if the folder has no file, or if its file is the person's own because coder's home lies in the folder. The
    servers in `.mcp.json` count as if the folder's file named them, if it does not."""
    tree, own = _folder_tree(home, folder)
    if tree is None:
        return None
    layered = layer(mine, tree)
    return replace(layered, files={key: _file_of(key, own) for key in layered.needs_trust})


def _folder_tree(home: str, folder: str) -> tuple[Tree | None, Tree]:
    """The keys of the folder's files, None if it has none; and the servers that its own file names."""
    if os.path.realpath(os.path.join(folder, OWN_FOLDER)) == os.path.realpath(home):
        return None, {}
    content = read_folder_file(folder)
    tree = {} if content is None else _available(content, folder_file(folder))[0]
    own = tree.get("mcp_servers", {})
    if os.path.lexists(mcp_json_file(folder)) and (servers := mcp_json_servers(folder)):
        tree["mcp_servers"] = servers | own
    return (None if not tree and content is None else tree), own


def _file_of(key: str, own_servers: Tree) -> str:
    kind, _, name = key.partition(".")
    return MCP_FILE if kind == "mcp_servers" and name not in own_servers else os.path.join(OWN_FOLDER, FILE)


def _available(content: bytes, path: str) -> tuple[Tree, Settings]:
    """The keys and settings of a file. Raises BadInput, also for keys of parts that this version does not have."""
    tree, settings = read_document(content, path)
    for name in TO_COME:
        for key, _ in keys_in({name: tree[name]}) if name in tree else ():
            if is_to_come(key):
                dotted = escaped(".".join(key))
                told = say("{file}: {key} is not available yet", file=display_path(path), key=dotted)
                raise BadInput(told, "Remove it for now.")
    return tree, settings


def layer(mine: Settings, folder: Tree) -> LayeredSettings:
    """Apply the keys of a folder's file to the person's settings. `folder` must have been checked before."""
    own: Tree = msgspec.to_builtins(mine)
    theirs: Tree = msgspec.to_builtins(msgspec.convert(folder, Settings))
    untrusted, trusted, needs_trust = _copy(own), _copy(own), dict[str, Any]()
    for path, written in keys_in(folder):
        rules = rule_of(path)
        assert rules is not None
        value = _at(theirs, path)
        given, wanted = (rule(_at(own, path), written if value is None else value) for rule in rules)
        _put(untrusted, path, given)
        _put(trusted, path, wanted)
        if given != wanted:
            needs_trust[".".join(path)] = written
    return LayeredSettings(msgspec.convert(untrusted, Settings), msgspec.convert(trusted, Settings), needs_trust)


def _copy(tree: Tree) -> Tree:
    return msgspec.to_builtins(tree)


def _at(tree: Any, path: Path) -> Any:
    for name in path:
        tree = cast(Tree, tree).get(name) if isinstance(tree, dict) else None
    return tree


def _put(tree: Tree, path: Path, value: Any) -> None:
    if value is None:  # nobody has set this key
        return
    for name in path[:-1]:
        tree = tree.setdefault(name, {})
    tree[path[-1]] = value
