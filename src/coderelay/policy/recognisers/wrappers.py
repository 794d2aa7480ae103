"""Programs that start another one: what is left of the vector is judged like any other."""

import re
from collections.abc import Sequence

from coderelay.policy.recognisers.options import Refused
from coderelay.policy.shell_words import Word
from coderelay.protocol.translatable import say

WRAPPERS = {"timeout", "nice", "time", "xargs"}
_SECONDS = re.compile(r"\d+(?:\.\d+)?[smhd]?")
_NICE = re.compile(r"-n?\d+")
_XARGS = re.compile(r"-[0rt]*(?:[nLP]\d+)?")
_TOUCHES_NO_FILE = {"echo", "basename", "dirname"}


def unwrap(name: str, words: Sequence[Word]) -> Sequence[Word]:
    """The vector that is started. Whatever the wrapper is given first must be known to be harmless."""
    rest = list(words)
    match name:
        case "timeout":
            _drop_options(rest, ("--foreground", "--preserve-status", "-v"), ("-k", "-s"))
            _drop(rest, _SECONDS)
        case "nice":
            if rest and rest[0].text == "-n":
                del rest[:1]
                _drop(rest, _SECONDS)
            elif rest and rest[0].text.startswith("-"):
                _drop(rest, _NICE)
        case "time":
            _drop_options(rest, ("-p",), ())
        case _:
            while rest and rest[0].text.startswith("-"):
                _drop(rest, _XARGS)
            if not rest or rest[0].text not in _TOUCHES_NO_FILE:
                raise Refused("xargs gives a program whatever it reads")
    if not rest or rest[0].glob:
        raise Refused(say("{program} starts no plain program", program=name))
    return rest


def _drop_options(rest: list[Word], alone: tuple[str, ...], with_value: tuple[str, ...]) -> None:
    while rest and rest[0].text.startswith("-"):
        option = rest.pop(0).text
        if option in with_value:
            _drop(rest, re.compile(r"[A-Z0-9]+s?"))
        elif option not in alone:
            raise Refused(say("the option {option} is not known to be harmless", option=option))


def _drop(rest: list[Word], form: re.Pattern[str]) -> None:
    if not rest or not form.fullmatch(rest.pop(0).text):
        raise Refused("it is not given plainly what to start")
