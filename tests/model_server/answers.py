"""What a scripted model can answer, in no provider's words.

The same structs are the JSON form of a script file, so decoding one checks it.
"""

from collections.abc import Mapping

from msgspec import Struct, field
from msgspec.structs import replace


class Call(Struct, frozen=True, forbid_unknown_fields=True):
    """One proposed tool call. Arguments given as text are sent as they are, JSON or not. One that is `signed` must
    come back with the signature it is sent with, in the forms that have any."""

    name: str
    arguments: dict[str, object] | str = field(default_factory=dict[str, object])
    id: str = ""  # empty: the server gives it the next `call_<n>`
    signed: bool = False


class _Answer(Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind"):
    pass


class Message(_Answer, frozen=True, tag="message"):
    """An assistant message, streamed a word or so at a time."""

    text: str = ""
    thinking: str | None = None
    calls: tuple[Call, ...] = ()
    finish_reason: str | None = None  # None: "tool_calls" if there are calls, else "stop"
    token_delay: float = 0.0  # seconds before each piece but the first


class Tokens(_Answer, frozen=True, tag="tokens"):
    """The same one-token text `count` times, one event each, as fast as the socket takes it."""

    count: int
    text: str = "tok "


Spoken = Message | Tokens


class HttpError(_Answer, frozen=True, tag="http_error"):
    status: int
    message: str
    headers: dict[str, str] = field(default_factory=dict[str, str])
    code: str | None = None


class CutOff(_Answer, frozen=True, tag="cut_off"):
    """The connection drops once `after_pieces` events are on their way."""

    answer: Spoken
    after_pieces: int


class Hangs(_Answer, frozen=True, tag="hangs"):
    """Silence after `after_pieces` events, on a connection that stays open."""

    answer: Spoken
    after_pieces: int


class Garbage(_Answer, frozen=True, tag="garbage"):
    """A malformed event after `after_pieces` good ones; the rest follows as if nothing happened.

    So a client that skips what it cannot read is told apart from one that reports it.
    """

    answer: Spoken
    after_pieces: int


Answer = Message | Tokens | HttpError | CutOff | Hangs | Garbage


def says(
    text: str, thinking: str | None = None, token_delay: float = 0.0, finish_reason: str | None = None
) -> Message:
    return Message(text=text, thinking=thinking, token_delay=token_delay, finish_reason=finish_reason)


def proposes(*calls: Call, text: str = "", thinking: str | None = None, finish_reason: str | None = None) -> Message:
    return Message(text=text, thinking=thinking, calls=calls, finish_reason=finish_reason)


def call(name: str, /, **arguments: object) -> Call:
    return Call(name=name, arguments=arguments)


def raw_call(name: str, arguments_text: str) -> Call:
    return Call(name=name, arguments=arguments_text)


def signed(proposed: Call) -> Call:
    return replace(proposed, signed=True)


def read(path: str) -> Call:
    return call("read", path=path)


def write(path: str, content: str) -> Call:
    return call("write", path=path, content=content)


def bash(command: str) -> Call:
    return call("bash", command=command)


def empty() -> Message:
    return Message()


def tokens(n: int, text: str = "tok ") -> Tokens:
    return Tokens(count=n, text=text)


def http_error(
    status: int, message: str, headers: Mapping[str, str] | None = None, code: str | None = None
) -> HttpError:
    return HttpError(status=status, message=message, headers=dict(headers or {}), code=code)


def cut_off(answer: Spoken, after_pieces: int) -> CutOff:
    return CutOff(answer=answer, after_pieces=after_pieces)


def hangs(answer: Spoken, after_pieces: int) -> Hangs:
    return Hangs(answer=answer, after_pieces=after_pieces)


def garbage(answer: Spoken, after_pieces: int) -> Garbage:
    return Garbage(answer=answer, after_pieces=after_pieces)
