"""Fetches web pages: checks the address, follows redirects within a site, converts the body to text.

The request goes to the IP address that the host name resolves to, after that address was checked; nothing on this
machine or its network can be reached. A redirect to another site is not followed: the policy has to allow that site
first.
"""

import asyncio
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Protocol
from urllib.parse import urljoin

from coderelay import __version__
from coderelay.protocol.calls import Finished
from coderelay.protocol.errors import ToolFailed
from coderelay.protocol.translatable import say
from coderelay.tools.toolbox import shortened
from coderelay.tools.web.page_address_check import (
    PORTS,
    IPAddress,
    PageAddress,
    Resolve,
    checked_place,
    is_public,
    page_address,
    resolve_name,
)
from coderelay.tools.web.page_text import page_text
from coderelay.tools.web.response_body import WebPage, read_body, text_of, visible

_SECONDS = 30.0
_REDIRECTS = 5
_LEADS_ON = (301, 302, 303, 307, 308)
_HEADERS = {
    "user-agent": f"coderelay/{__version__}",
    "accept": "text/html, application/xhtml+xml, text/*;q=0.9, application/json;q=0.9, */*;q=0.1",
    "accept-encoding": "gzip, deflate",
}
_TEXTS = ("json", "xml", "javascript", "ecmascript", "yaml", "toml", "x-sh", "graphql", "x-ndjson", "sql")
_SAID_CHARS = 1000


class Pages(Protocol):
    """The HTTP client for pages: `http.web_page_client`. Errors are raised as ToolFailed."""

    def goes_through_proxy(self, url: str) -> bool: ...

    def get(self, url: str, place: str, headers: Mapping[str, str]) -> AbstractAsyncContextManager[WebPage]: ...


class PageFetch:
    """`resolve`, `may_reach` and `ports` exist for tests only; nothing that is read from a file may set them."""

    def __init__(
        self,
        pages: Pages,
        *,
        resolve: Resolve = resolve_name,
        may_reach: Callable[[IPAddress], bool] = is_public,
        ports: Collection[int] = PORTS,
        seconds: float = _SECONDS,
    ) -> None:
        self._pages = pages
        self._resolve = resolve
        self._may_reach = may_reach
        self._ports = ports
        self._seconds = seconds

    def address(self, url: str) -> str:
        return page_address(url, self._ports).url

    async def fetch(self, url: str) -> Finished:
        address = page_address(url, self._ports)
        try:
            async with asyncio.timeout(self._seconds):
                return await self._follow(address)
        except TimeoutError as error:
            raise ToolFailed(
                say("{url} took longer than {seconds} s", url=address.url, seconds=f"{self._seconds:g}")
            ) from error

    async def _follow(self, address: PageAddress) -> Finished:
        for _ in range(_REDIRECTS + 1):
            async with self._pages.get(address.url, await self._place(address), _HEADERS) as page:
                if page.status not in _LEADS_ON or "location" not in page.headers:
                    return await _finished(address, page)
                address = self._next(address, page.headers["location"])
        raise ToolFailed(say("{url} redirects more than {count} times", url=address.url, count=_REDIRECTS))

    async def _place(self, address: PageAddress) -> str:
        """The IP address to connect to, or nothing if only the proxy knows the name. A proxy resolves names itself,
        so only what can be resolved here is checked."""
        try:
            places = await self._resolve(address.host, address.port)
        except (OSError, UnicodeError) as error:
            if self._pages.goes_through_proxy(address.url):
                return ""
            why = error.strerror if isinstance(error, OSError) else error
            raise ToolFailed(say("cannot find the host {host}: {why}", host=address.host, why=why)) from error
        return checked_place(address.host, places, self._may_reach)

    def _next(self, address: PageAddress, location: str) -> PageAddress:
        following = page_address(urljoin(address.url, location), self._ports)
        if following.host != address.host:
            raise ToolFailed(
                say("the page leads to another site: {url}", url=following.url),
                detail="Fetch that address if it is wanted.",
            )
        if address.secure and not following.secure:
            raise ToolFailed(
                say("the page leads from https to http, where it is not followed: {url}", url=following.url)
            )
        return following


async def _finished(address: PageAddress, page: WebPage) -> Finished:
    content_type = page.headers.get("content-type", "")
    kind = visible(content_type).partition(";")[0].strip().lower()
    if page.status >= 400:
        raise ToolFailed(
            say("{url} answered {status}", url=address.url, status=page.status),
            detail=(await _said(kind, page, address)).strip(),
        )
    if not _is_text(kind):
        raise ToolFailed(say("{url} is {kind}, not text", url=address.url, kind=kind))
    text, whole = await _text(kind, page, address)
    cut = "" if whole else "\n(the page is longer; only its beginning was read)"
    shown = shortened(text) + cut
    return Finished(output=f"{address.url}\n\n{shown}", summary=say("{count} characters", count=len(text)))


async def _said(kind: str, page: WebPage, address: PageAddress) -> str:
    """The beginning of an error page, which mostly contains the reason."""
    if not _is_text(kind):
        return ""
    return (await _text(kind, page, address))[0][:_SAID_CHARS]


async def _text(kind: str, page: WebPage, address: PageAddress) -> tuple[str, bool]:
    body, whole = await read_body(page)
    if not kind and b"\0" in body[:1000]:
        raise ToolFailed(say("{url} is not text", url=address.url))
    text = text_of(body, page.headers.get("content-type", ""))
    if kind in ("text/html", "application/xhtml+xml") or (not kind and text.lstrip()[:1] == "<"):
        text, all_read = await asyncio.to_thread(page_text, text, address.url)  # may take a second
        whole = whole and all_read
    return (await asyncio.to_thread(visible, text)).strip(), whole


def _is_text(kind: str) -> bool:
    """Whether this content type is text. A page without a content type is accepted here and checked by its
    content."""
    name = kind.partition("/")[2]
    return not kind or kind.startswith("text/") or any(name == each or name.endswith(f"+{each}") for each in _TEXTS)
