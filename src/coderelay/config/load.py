"""Settings from the environment."""

import os
from collections.abc import Mapping

from msgspec import Struct


class Config(Struct, frozen=True):
    home: str
    model: str | None
    database_url: str | None = None

    @property
    def database(self) -> str:
        return os.path.join(self.home, "sessions.db")

    @property
    def live(self) -> str:
        return os.path.join(self.home, "live.db")

    @property
    def owners(self) -> str:
        return os.path.join(self.home, "owners")


def load(env: Mapping[str, str]) -> Config:
    home = env.get("CODER_HOME") or os.path.join(os.path.expanduser("~"), ".coder")
    return Config(
        home=os.path.abspath(os.path.expanduser(home)),
        model=env.get("CODER_MODEL") or _detected(env),
        database_url=env.get("CODER_DATABASE_URL") or None,
    )


def _detected(env: Mapping[str, str]) -> str | None:
    """What the person already has set up for other programs."""
    if not env.get("OPENAI_API_KEY"):
        return None
    return f"openai:{env.get('OPENAI_MODEL') or 'gpt-5.5'}"
