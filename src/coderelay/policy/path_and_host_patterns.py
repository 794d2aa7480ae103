"""Glob matching for permission rules: path patterns like lines of a `.gitignore` (or from `~/` or `/`), and hosts."""

import posixpath
import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from functools import lru_cache

_DEEPEST = 300
_PIECE = r"(?s)/\*\*/|\*\*/|/\*\*|\*\*|\*|\?|\[!?[^]/]+\]|."
_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_ADDRESS = r"(?i)[a-z][a-z0-9+.-]*://([^/?#\\\s]*)(?:[/?#][^\s\\]*)?"
_NAMED = r"(?i)(?<![a-z0-9+.-])[a-z0-9+.-]+://([^/?#\s'\"\\]*)"


def matches(pattern: str, path: str, folders: Iterable[str], home: str, *, any_case: bool) -> bool:
    """Whether the pattern matches this path or a folder that contains it. `path` is as a tool or a command names it.
    A relative path starts from the first of the `folders`, a relative pattern from any of them. Rules that ask or
    deny (strict rules) set `any_case`, which ignores case; rules that allow do not."""
    roots = tuple(folders)
    full = posixpath.normpath(posixpath.join(roots[0] if roots else "/", _at_home(path, home)))
    if full.count("/") > _DEEPEST:
        return any_case  # comparing each folder with each `**` would take long, so only a strict rule matches
    if pattern.startswith(("/", "~/")):
        return _matches(_at_home(pattern, home), full, any_case)
    return any(_matches(_anchored(pattern, root), full, any_case) for root in roots)


def may_match(pattern: str, path: str, folders: Iterable[str], home: str, *, deep: bool) -> bool:
    """Whether this absolute path, which may hold the shell wildcards `*` and `?`, could expand to a path that the
    pattern matches. With `deep`, everything below the path counts too. Case is ignored."""
    whole = [_at_home(pattern, home)] if pattern.startswith(("/", "~/")) else [_anchored(pattern, f) for f in folders]
    parts = _parts(posixpath.normpath(path))
    return any(_parts_may_match(parts, _parts(each.rstrip("/")), deep) for each in whole)


def _parts(path: str) -> list[str]:
    return path.lower().strip("/").split("/") if path.strip("/") else []


def _parts_may_match(path: list[str], pattern: list[str], deep: bool) -> bool:
    """Matches part by part, keeping the set of all positions in the pattern that the path may have reached."""
    places = _without_stars({0}, pattern)
    for name in path:
        if len(pattern) in places:
            break
        stay = {at for at in places if pattern[at] == "**"}
        places = _without_stars(stay | {at + 1 for at in places - stay if _name_may_be(name, pattern[at])}, pattern)
    return len(pattern) in places or (deep and bool(places))


def _without_stars(places: set[int], pattern: list[str]) -> set[int]:
    """Adds the positions behind each `**`, which may match no folder at all."""
    for at, part in enumerate(pattern):
        if part == "**" and at in places:
            places = places | {at + 1}
    return places


def _name_may_be(name: str, pattern: str) -> bool:
    """Whether one path part could match one pattern part. If both hold wildcards, only their literal beginnings and
    endings are compared."""
    if name[:1] in ("*", "?") and pattern[:1] == ".":
        return False  # a leading wildcard of the shell does not match a hidden file
    one, other = (re.split(r"[*?\[]", each, maxsplit=1)[0] for each in (name, pattern))
    if not (one.startswith(other) or other.startswith(one)):
        return False
    if not set("*?") & set(name):
        return fnmatchcase(name, pattern)
    if not set("*?[") & set(pattern):
        return fnmatchcase(pattern, name)
    end, tail = (re.split(r"[*?\]]", each)[-1] for each in (name, pattern))
    return end.endswith(tail) or tail.endswith(end)


def _at_home(path: str, home: str) -> str:
    return posixpath.join(home, path[2:]) if path.startswith("~/") and home else path


def _anchored(pattern: str, root: str) -> str:
    """The pattern below `root`. A pattern without a slash before its end matches at any depth."""
    inside = pattern.removeprefix("./")
    deep = "" if "/" in inside.rstrip("/") else "**/"
    return f"{_escaped(root.rstrip('/'))}/{deep}{inside}"


def _escaped(root: str) -> str:
    return re.sub(r"([*?\[])", r"[\1]", root)


def _matches(pattern: str, full: str, any_case: bool) -> bool:
    """In a strict rule (`any_case`), `folder/**` matches the folder itself too."""
    return _compiled(pattern.removesuffix("/**") if any_case else pattern, any_case).fullmatch(full) is not None


@lru_cache(maxsize=512)
def _compiled(pattern: str, any_case: bool) -> re.Pattern[str]:
    pieces = "".join(_regex(piece) for piece in re.findall(_PIECE, pattern.rstrip("/")))
    return re.compile(pieces + r"(?:/.*)?", re.DOTALL | (re.IGNORECASE if any_case else 0))


def _regex(piece: str) -> str:
    match piece:
        case "/**/":
            return "/(?:.*/)?"
        case "**/":
            return "(?:.*/)?"
        case "/**":
            return "/.*"
        case "**":
            return ".*"
        case "*":
            return "[^/]*"
        case "?":
            return "[^/]"
        case _ if len(piece) > 1:
            inside = re.sub(r"([\\^\[])", r"\\\1", piece[1:-1].removeprefix("!"))
            return f"[{'^' if piece[1] == '!' else ''}{inside}]"
        case _:
            return re.escape(piece)


def host_of(address: str) -> str | None:
    """The host name of a URL. None for a URL of an unusual form: a login or an escape may hide where it leads."""
    found = re.fullmatch(_ADDRESS, address)
    if found is None:
        return None
    name, _, port = found.group(1).lower().partition(":")
    return name if _is_host(name) and (not port or (port.isascii() and port.isdigit())) else None


def hosts_named(text: str) -> list[str]:
    """What stands in the place of the host name in every URL in a text, even in a malformed URL."""
    return [part.rpartition("@")[2].partition(":")[0].rstrip(".").lower() for part in re.findall(_NAMED, text)]


def is_host_pattern(text: str) -> bool:
    """`docs.python.org`, or `*.example.com` for all names below it."""
    return _is_host(text.lower().removeprefix("*."))


def host_matches(pattern: str, host: str) -> bool:
    wanted, labels = pattern.lower().split("."), host.split(".")
    if wanted[0] != "*":
        return labels == wanted
    return len(labels) >= len(wanted) and labels[-len(wanted) + 1 :] == wanted[1:]


def _is_host(name: str) -> bool:
    return len(name) <= 253 and all(re.fullmatch(_LABEL, label) for label in name.split("."))
