"""A short title for a session, made by a small model."""

from contextlib import aclosing

from coderelay.models.model import Completion, Model, Request
from coderelay.protocol.content import text_of
from coderelay.protocol.errors import ModelFailed
from coderelay.session.transcript import UserMessage

_TITLER = """\
Give a title of at most six words to a coding session that begins with the request below. In the language of the \
request. Answer with the title alone, without quotes."""
_READ = 4000
_MOST = 80


async def title_for(model: Model, prompt: str) -> str:
    """Raises ModelFailed."""
    request = Request(_TITLER, [UserMessage(prompt[:_READ])], think="off")
    async with aclosing(model.stream(request)) as pieces:
        async for piece in pieces:
            if isinstance(piece, Completion):
                words = text_of(piece.blocks).strip().strip("\"'“”「」《》").split()
                if words:
                    return " ".join(words)[:_MOST]
    raise ModelFailed("the model gave no title")
