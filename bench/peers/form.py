"""The wire forms that peers speak, as far as a script needs them: no request is refused, each gets its answer."""

from collections.abc import Callable, Iterator

from msgspec import Struct

from bench.peers import gemini_form
from bench.server import Answer, chunked
from tests.model_server import openai_chat, openai_responses
from tests.model_server.answers import Spoken
from tests.model_server.anthropic import Anthropic, CountedRequest
from tests.model_server.anthropic_cache import Counted
from tests.model_server.wire_form import Asked, Body

_BODY: Body = {"model": "scripted", "stream_options": {"include_usage": True}}
_anthropic = Anthropic()


class Form(Struct, frozen=True):
    """`path` is how the addresses end at which a turn asks. Its requests offer tools, which asides do not, unless
    they hold one of the words of `asides`."""

    path: str
    stream: Callable[[Asked, Spoken], Iterator[bytes]]
    whole: Callable[[Asked, Spoken], bytes]
    offers_tools: bool = True
    asides: tuple[bytes, ...] = ()

    def asks(self, path: str, body: Body, raw: bytes) -> bool:
        """Whether a request is a step of the turn."""
        if not path.endswith(self.path) or any(words in raw for words in self.asides):
            return False
        return bool(body.get("tools")) or not self.offers_tools

    def answer(self, spoken: Spoken, number: int, events_per_write: int = 1000) -> Answer:
        """Ids are made from the number, which is another for each answer of a run."""
        return chunked(self.stream(_asked(_BODY, number), spoken), events_per_write)

    def aside(self, body: Body, number: int, spoken: Spoken) -> bytes:
        return self.whole(_asked(_BODY | body, number), spoken)


CHAT = Form("/chat/completions", openai_chat.stream, openai_chat.whole)
RESPONSES = Form("/responses", openai_responses.stream, openai_responses.whole)
ANTHROPIC = Form("/messages", _anthropic.stream, _anthropic.whole)
GEMINI = Form(":streamGenerateContent", gemini_form.stream, gemini_form.whole)


def _asked(body: Body, number: int) -> Asked:
    return CountedRequest(body, f"{number:08x}", 4000, (), True, Counted(0, 0, 1000))
