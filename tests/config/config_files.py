"""Configuration files as a person or a folder would have them."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coderelay.config.loaded_config import Config, load


class Places:
    """A home and a folder to work in, with nothing of this machine's own set-up."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.folder = root / "work"
        self.home.mkdir(parents=True, exist_ok=True)
        (self.folder / ".coder").mkdir(parents=True, exist_ok=True)

    @property
    def person_file(self) -> Path:
        return self.home / "config.json"

    @property
    def folder_file(self) -> Path:
        return self.folder / ".coder" / "config.json"

    def write(self, person: Mapping[str, Any] | None = None, folder: Mapping[str, Any] | None = None) -> "Places":
        for path, keys in ((self.person_file, person), (self.folder_file, folder)):
            if keys is not None:
                path.write_text(json.dumps(keys))
        return self

    def load(self, **env: str) -> Config:
        return load({"CODER_HOME": str(self.home), **env}, str(self.folder))
