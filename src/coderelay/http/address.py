"""Where a server is, taken from a URL that a person wrote."""

from urllib.parse import quote, urlsplit

from msgspec import Struct

_KEPT = "/%:@!$&'()*+,;=~"  # what a path may hold as it is; the rest is quoted


class Address(Struct, frozen=True):
    """A user and a password in the URL are left out: this is shown in messages and sent as Host."""

    secure: bool
    host: str
    port: int
    path: str  # without a slash at its end
    query: str

    @property
    def scheme(self) -> str:
        return "https" if self.secure else "http"

    @property
    def netloc(self) -> str:
        """Host and port as a Host header has them: a usual port is left out."""
        return _bracketed(self.host) if self.port == _usual_port(self.secure) else self.host_and_port

    @property
    def host_and_port(self) -> str:
        return f"{_bracketed(self.host)}:{self.port}"

    def target(self, path: str) -> str:
        return f"{self.path}{path}?{self.query}" if self.query else f"{self.path}{path}"


def parse_address(url: str) -> Address | None:
    """None if it is not the URL of an HTTP server."""
    try:
        parts = urlsplit(url.strip())
        host, port = _ascii(parts.hostname or ""), parts.port
    except ValueError:  # a port that is no number, half a bracket, a name that IDNA refuses
        return None
    if parts.scheme not in ("http", "https") or not _is_host(host) or port == 0:
        return None
    secure = parts.scheme == "https"
    path, query = quote(parts.path.rstrip("/"), _KEPT), quote(parts.query, _KEPT + "?")
    return Address(secure, host, port or _usual_port(secure), path, query)


def without_user(url: str) -> str:
    """The URL as it may be shown, whether or not it makes sense."""
    before, at, rest = url.rpartition("@")
    scheme, slashes, _ = before.partition("//")
    return f"{scheme}{slashes}{rest}" if at and slashes else rest


def _ascii(host: str) -> str:
    return host if host.isascii() else host.encode("idna").decode()


def _is_host(host: str) -> bool:
    return bool(host) and host.isprintable() and not set(host) & set(' "<>\\^`{|}')


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _usual_port(secure: bool) -> int:
    return 443 if secure else 80
