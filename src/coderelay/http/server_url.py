"""Parses the URL of a server, as a person wrote it, into scheme, host, port, path and query."""

from urllib.parse import quote, urlsplit

from msgspec import Struct

_KEPT = "/%:@!$&'()*+,;=~"  # the characters that stay as they are in a path; all others are percent-encoded


class Address(Struct, frozen=True):
    """The address of a server. A user and a password in the URL are left out, because the address is shown in
    messages and sent as the Host header."""

    secure: bool
    host: str
    port: int
    path: str  # without a trailing slash
    query: str

    @property
    def scheme(self) -> str:
        return "https" if self.secure else "http"

    @property
    def netloc(self) -> str:
        """Host and port as the Host header has them: the default port is left out."""
        return _bracketed(self.host) if self.port == _usual_port(self.secure) else self.host_and_port

    @property
    def host_and_port(self) -> str:
        return f"{_bracketed(self.host)}:{self.port}"

    def target(self, path: str) -> str:
        return f"{self.path}{path}?{self.query}" if self.query else f"{self.path}{path}"


def parse_address(url: str) -> Address | None:
    """Return None if it is not the URL of an HTTP server."""
    try:
        parts = urlsplit(url.strip())
        host, port = _ascii(parts.hostname or ""), parts.port
    except ValueError:  # a port that is not a number, an unbalanced bracket, a name that IDNA refuses
        return None
    if parts.scheme not in ("http", "https") or not _is_host(host) or port == 0:
        return None
    secure = parts.scheme == "https"
    path, query = quote(parts.path.rstrip("/"), _KEPT), quote(parts.query, _KEPT + "?")
    return Address(secure, host, port or _usual_port(secure), path, query)


def without_user(url: str) -> str:
    """Return the URL without user and password, so that it may be shown. The URL need not be valid."""
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
