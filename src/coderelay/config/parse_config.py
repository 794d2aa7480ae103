"""Parse and check one configuration file. Raises BadInput that names the file, the key and what is right.

`config_error_messages` finds out what is wrong with a file; it is loaded only then.
"""

import re
from typing import cast

import msgspec

from coderelay.config.json_tree_checks import Tree, count_keys, holds_null
from coderelay.config.secrets_in_settings import refuse_secrets
from coderelay.config.settings import PermissionsConfig, Settings
from coderelay.policy.rules import EXPECTED, InvalidRule, read_rule
from coderelay.protocol.errors import BadInput
from coderelay.protocol.text_escaping_and_width import display_path, escaped
from coderelay.protocol.translatable import apply_to_values, say

_DEEPEST = 32
_DOTS = 3  # as in agents.<name>.tools.disabled
_STRING = rb'"(?:[^"\\]|\\.)*+"(\s*:)?'
_LONGEST = 60


def read_document(content: bytes, path: str) -> tuple[Tree, Settings]:
    """The keys that are set, as a nested tree, and the settings made from them."""
    file = display_path(path)
    tree = _nested(parse_object(content, file), file)
    try:
        settings = msgspec.convert(tree, Settings)
    except msgspec.ValidationError as error:
        raise _about_value(tree, file) from error
    if holds_null(tree):
        raise _about_value(tree, file)
    refuse_secrets(settings.providers, file)
    refuse_odd_rules(settings.permissions, file)
    return tree, settings


def parse_object(content: bytes, file: str) -> Tree:
    """Parse a JSON object in which no key is written twice. Raises BadInput."""
    if not content.strip():
        return {}
    try:
        value = msgspec.json.decode(content.removeprefix(b"\xef\xbb\xbf"))
        keys = count_keys(value, _DEEPEST)
    except RecursionError as error:
        raise BadInput(say("{file} is nested too deeply", file=file)) from error
    except ValueError as error:
        raise _about_text(content, file) from error
    if not isinstance(value, dict):
        raise BadInput(say("{file} must contain a JSON object: {example}", file=file, example="{…}"))
    if keys != sum(1 for each in re.finditer(_STRING, content) if each[1]):
        raise _about_text(content, file)
    return cast(Tree, value)


def _nested(written: Tree, file: str) -> Tree:
    """Expand dotted keys: `{"compaction.threshold": 0.7}` is short for `{"compaction": {"threshold": 0.7}}`."""
    tree: Tree = {}
    for key, value in written.items():
        first, *rest = key.split(".", _DOTS)
        for each in reversed(rest):
            value = {each: value}
        if not _join(tree, {first: value}):
            raise BadInput(say("{file}: {key} is set twice", file=file, key=escaped(key)))
    return tree


def _join(tree: Tree, more: Tree) -> bool:
    """Merge `more` into `tree`. Returns False if both set the same key."""
    for name, value in more.items():
        if name not in tree:
            tree[name] = value
        elif not (isinstance(tree[name], dict) and isinstance(value, dict) and _join(tree[name], cast(Tree, value))):
            return False
    return True


def _about_text(content: bytes, file: str) -> BadInput:
    from coderelay.config.config_error_messages import about_text  # loaded only if something is wrong

    return about_text(content, file)


def _about_value(tree: Tree, file: str) -> BadInput:
    from coderelay.config.config_error_messages import about_value  # loaded only if something is wrong

    return about_value(tree, file)


def refuse_odd_rules(written: PermissionsConfig, file: str) -> None:
    """Raises BadInput for a rule that cannot be parsed: such a rule would protect nobody."""
    if not (written.allow or written.ask or written.deny):
        return
    from coderelay.tools.builtin_tools import SPECS  # most people have no rules, and then the tools are not needed

    for name, texts in (("allow", written.allow), ("ask", written.ask), ("deny", written.deny)):
        for number, text in enumerate(texts):
            try:
                read_rule(SPECS, text)
            except InvalidRule as odd:
                shown = escaped(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…")
                raise BadInput(
                    say(
                        '{file}: permissions.{name}[{number}] must be {what}, not "{value}": {problem}',
                        file=file,
                        name=name,
                        number=number,
                        what=say(EXPECTED),
                        value=shown,
                        problem=apply_to_values(escaped, odd.reason),
                    )
                ) from odd
