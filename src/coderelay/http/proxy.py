"""The proxy that the environment names for an address."""

from binascii import b2a_base64
from collections.abc import Iterator, Mapping
from ipaddress import ip_address, ip_network
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from coderelay.http.address import Address, parse_address, without_user
from coderelay.protocol.errors import ModelFailed


class Proxy(Struct, frozen=True):
    address: Address
    authorization: str  # the value of Proxy-Authorization, or nothing
    variable: str  # where it was named

    @property
    def name(self) -> str:
        return f"the proxy at {self.address.netloc} ({self.variable})"

    @property
    def headers(self) -> dict[str, str]:
        return {"proxy-authorization": self.authorization} if self.authorization else {}


def proxy_for(address: Address, env: Mapping[str, str]) -> Proxy | None:
    """Raises ModelFailed if a proxy is named that cannot be used."""
    if _is_loopback(address.host) or any(_covers(each, address) for each in _no_proxy(env)):
        return None
    for name in (f"{address.scheme}_proxy", "all_proxy"):
        for variable in (name, name.upper()):
            if url := env.get(variable, "").strip():
                return _proxy(url, variable)
    return None


def _proxy(url: str, variable: str) -> Proxy:
    url = url if "://" in url else f"http://{url}"
    address = parse_address(url)
    if address is None:
        hint = "It must look like http://host:port; SOCKS is not spoken here."
        raise ModelFailed(f"{variable} names a proxy that cannot be used: {without_user(url)}", hint=hint)
    return Proxy(address, _basic(url), variable)


def _basic(url: str) -> str:
    parts = urlsplit(url)
    if not parts.username:
        return ""
    user = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return "Basic " + b2a_base64(user.encode(), newline=False).decode()


def _no_proxy(env: Mapping[str, str]) -> Iterator[str]:
    value = env.get("no_proxy") or env.get("NO_PROXY") or ""
    return (entry.lower() for entry in value.replace(",", " ").split())


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _covers(entry: str, address: Address) -> bool:
    """An entry is `*`, a domain with all below it, an IP address or a network; a port may follow."""
    if entry == "*":
        return True
    try:
        return ip_address(address.host) in ip_network(entry.strip("[]"), strict=False)
    except ValueError:
        pass  # a name on one side or the other, or a port
    name, colon, port = entry.rpartition(":")
    if not colon or not port.isdigit():
        name, port = entry, str(address.port)
    name = name.strip("[]").removeprefix("*").removeprefix(".")
    return port == str(address.port) and (address.host == name or address.host.endswith(f".{name}"))
