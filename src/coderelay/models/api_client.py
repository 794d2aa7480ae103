"""The HTTP client of a model provider: sends request bodies with the key, yields streamed events."""

from collections.abc import AsyncGenerator, Callable, Mapping

from coderelay.http.model_server_client import HttpClient, Response
from coderelay.http.sse import EventStream
from coderelay.models.answer_limits_and_completeness import check_event_size
from coderelay.models.api_errors import reason_in, refusal
from coderelay.protocol.errors import ModelFailed
from coderelay.protocol.translatable import say

_END_SECONDS = 0.25  # how long to wait for the end of the body after the end of the message
_TOLD_BYTES = 64 * 1024


class ApiClient:
    """`headers` carry the key; `secret` is that key alone, so that it can be removed from messages to people. `env`
    has the settings of proxies and certificates; `variable` is the environment variable with the key. Any number of
    models may share one client."""

    def __init__(
        self,
        base_url: str,
        headers: Mapping[str, str],
        *,
        secret: str,
        variable: str = "",
        env: Mapping[str, str],
        idle_seconds: float = 300.0,
    ) -> None:
        self.secret = secret
        self._variable = variable
        self._client = HttpClient(base_url, env=env, idle_seconds=idle_seconds)
        self._headers = {
            "content-type": "application/json",
            "accept": "text/event-stream",
            "user-agent": "coderelay",
            **headers,
        }

    async def events(self, path: str, body: bytes, is_over: Callable[[], bool]) -> AsyncGenerator[list[bytes]]:
        """The data of the events of an answer, as many as come in together. Ends with the body, or soon after
        `is_over` says that nothing more is needed. Raises ModelFailed."""
        lines = EventStream(check_event_size, by_line=True)
        async with self._client.post(path, self._headers, body) as response:
            if response.status != 200:
                raise await refusal(response, self.secret, self._variable)
            data = await response.receive()
            if data.lstrip().startswith((b"<", b"{", b"[")):
                raise await self._not_events(response, data)
            while data:
                yield lines.feed(data)
                data = b"" if is_over() else await response.receive()
            yield lines.end()
            await response.finish(_END_SECONDS)

    async def fetch(self, path: str, most_bytes: int) -> bytes:
        """The body of an answer to a request without one. Raises ModelFailed."""
        async with self._client.get(path, self._headers | {"accept": "application/json"}) as response:
            if response.status != 200:
                raise await refusal(response, self.secret)
            return await response.read(most_bytes)

    async def close(self) -> None:
        await self._client.close()

    async def _not_events(self, response: Response, begun: bytes) -> ModelFailed:
        """The error for an answer that is not an event stream, mostly a web page: the address is not that of the
        API."""
        told = reason_in(begun + await response.read(_TOLD_BYTES), self.secret)
        kind = response.headers.get("content-type", "something").partition(";")[0]
        return ModelFailed(
            say(
                "the model server answered with {kind} and not with events: {problem}",
                kind=kind,
                problem=told or "no reason given",
            ),
            hint="Check the server address; it usually ends in /v1.",
        )
