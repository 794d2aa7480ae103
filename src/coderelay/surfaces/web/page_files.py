"""The files of the page: the web app if it was built, otherwise a bare page that says how to build it."""

from pathlib import Path

from msgspec import Struct

_HERE = Path(__file__).parent
APP = _HERE / "static"
"""Where the build of `web/` puts the app."""
BARE = _HERE / "page"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
    ".webmanifest": "application/manifest+json",
}


class PageFile(Struct, frozen=True):
    """`is_fixed`: its name changes with its content, so browsers may keep it."""

    path: Path
    media_type: str
    is_fixed: bool


def page_files(app: Path = APP) -> dict[str, PageFile]:
    """All files by the path that they are requested with. Files of other types are not served."""
    folder = app if (app / "index.html").is_file() else BARE
    found: dict[str, PageFile] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and (kind := _TYPES.get(path.suffix)) is not None:
            name = path.relative_to(folder).as_posix()
            found["/" if name == "index.html" else f"/{name}"] = PageFile(path, kind, name.startswith("assets/"))
    return found
