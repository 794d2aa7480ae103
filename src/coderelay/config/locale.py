"""What the locale says of the language. Loads nothing: `--help` asks too."""

from collections.abc import Mapping


def is_chinese(env: Mapping[str, str]) -> bool:
    said = next((env[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if env.get(name)), "")
    return said.lower().startswith("zh")
