"""Checks page URLs and their IP addresses: models may not reach this machine or the network it is in."""

import asyncio
import re
import socket
from collections.abc import Awaitable, Callable, Collection
from ipaddress import IPv4Address, IPv4Network, IPv6Address, ip_address
from urllib.parse import quote, urlsplit

from msgspec import Struct

from coderelay.policy.path_and_host_patterns import host_of
from coderelay.protocol.errors import ToolFailed
from coderelay.protocol.translatable import say

PORTS = (80, 443)
_MOST_CHARS = 4000
_KEPT = "/%:@!$&'()*+,;=~?"
_NUMBER = re.compile(r"0x[0-9a-f]*|[0-9]+")

IPAddress = IPv4Address | IPv6Address
Resolve = Callable[[str, int], Awaitable[Collection[str]]]


class PageAddress(Struct, frozen=True):
    """`url` is in the one canonical form in which it is shown, judged and requested."""

    url: str
    secure: bool
    host: str
    port: int


def page_address(text: str, ports: Collection[int] = PORTS) -> PageAddress:
    """Raises ToolFailed for all but the usual forms of a URL: another form may hide where it leads."""
    text = text.strip()
    if len(text) > _MOST_CHARS or not text.isprintable() or " " in text or "\\" in text:
        raise ToolFailed("the address is too long, or contains a blank or another character that URLs cannot contain")
    try:
        parts = urlsplit(text)
        host, port = (parts.hostname or "").encode("idna").decode().lower(), parts.port
    except ValueError as error:  # a bad port, bracket or host name
        raise ToolFailed(say("{url} is not a URL that can be fetched: {why}", url=text, why=error)) from error
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ToolFailed(
            say("{url} is not a URL that can be fetched: it must begin with https:// or http://", url=text)
        )
    if "@" in parts.netloc:
        raise ToolFailed("an address with a login in it is not fetched")
    secure = parts.scheme == "https"
    usual_port = 443 if secure else 80
    port = usual_port if port is None else port
    if port not in ports:
        raise ToolFailed(
            say(
                "port {port} is not one that pages are fetched from ({ports})",
                port=port,
                ports=", ".join(map(str, sorted(ports))),
            )
        )
    query = f"?{quote(parts.query, _KEPT)}" if parts.query else ""
    url = f"{parts.scheme}://{host}{'' if port == usual_port else f':{port}'}{quote(parts.path or '/', _KEPT)}{query}"
    if host_of(url) != host or _is_odd_number(host):
        raise ToolFailed(say("{host} is not a plain host name", host=repr(host)))
    return PageAddress(url, secure, host, port)


def checked_place(host: str, places: Collection[str], may_reach: Callable[[IPAddress], bool]) -> str:
    """The IP address to connect to. Raises ToolFailed if any address that the name resolves to may not be reached."""
    found = [ip_address(place.partition("%")[0]) for place in places]
    for place in found:
        if not may_reach(place):
            raise ToolFailed(
                say("{host} resolves to {place}, which is not on the public network", host=host, place=place)
            )
    if not found:
        raise ToolFailed(say("cannot find the host {host}", host=host))
    return str(found[0])


async def resolve_name(host: str, port: int) -> list[str]:
    """Raises OSError or UnicodeError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(place[0]) for *_, place in found))


def is_public(place: IPAddress) -> bool:
    if isinstance(place, IPv6Address):
        inner = _inner(place)
        if inner is not None:
            return is_public(inner)
        if place.is_site_local or (place.packed[8:12] in _ISATAP and not is_public(IPv4Address(place.packed[12:]))):
            return False
    elif any(place in network for network in _INNER_NETWORKS):
        return False
    return place.is_global and not (place.is_multicast or place.is_reserved or place.is_unspecified)


_ISATAP = (bytes.fromhex("00005efe"), bytes.fromhex("02005efe"))  # an IPv4 address at its end, in any network
_INNER_NETWORKS = (
    IPv4Network("192.88.99.0/24"),  # anycast: the nearest 6to4 relay
    IPv4Network("168.63.129.16"),  # Azure's internal services for its machines
)


def _inner(place: IPv6Address) -> IPv4Address | None:
    """The IPv4 address that an IPv6 address contains (mapped, compatible, 6to4, Teredo or NAT64), or None."""
    if place.ipv4_mapped is not None:
        return place.ipv4_mapped
    if place.sixtofour is not None:
        return place.sixtofour
    if place.teredo is not None:
        return place.teredo[1]
    if place.packed[:12] in (_NAT64, bytes(12)) and int(place) > 1:
        return IPv4Address(place.packed[12:])
    return None


_NAT64 = IPv6Address("64:ff9b::").packed[:12]


def _is_odd_number(host: str) -> bool:
    """Whether the host is an unusual form of an IP address: 2130706433, 0x7f.1 and 0177.0.0.1 are 127.0.0.1 for some
    programs."""
    if not _NUMBER.fullmatch(host.rpartition(".")[2]):
        return False
    try:
        IPv4Address(host)
    except ValueError:
        return True
    return False
