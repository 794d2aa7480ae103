"""What is in an archive. Listing starts no program of anybody's as long as no option of another kind is there."""

import re
from collections.abc import Sequence

from coderelay.policy.shell.parser import Word
from coderelay.policy.shell.programs.options import Refused
from coderelay.policy.shell.programs.paths import Place
from coderelay.policy.shell.programs.program import Program
from coderelay.protocol.translatable import say

_LISTS = re.compile(r"-?(?=[^t]*t)[tvzjJ]+f")
_UNZIP_LISTS = ("-l", "-v", "-Z1")


def lists_archive(program: str, option: str) -> bool:
    return option in _UNZIP_LISTS if program == "unzip" else _LISTS.fullmatch(option) is not None


def recognise_tar(words: Sequence[Word], place: Place) -> None:
    """Only `tf`, perhaps with more letters, and an archive: a colon would make it one on another machine."""
    if len(words) < 2 or not lists_archive("tar", words[0].text):
        raise Refused("tar is only known to be harmless when it lists, as tar tf")
    _check_names(words[1:], place)
    if ":" in words[1].text:
        raise Refused("tar may ask another machine")


def recognise_unzip(words: Sequence[Word], place: Place) -> None:
    if len(words) < 2 or not lists_archive("unzip", words[0].text):
        raise Refused("unzip is only known to be harmless when it lists, as unzip -l")
    _check_names(words[1:], place)


def _check_names(words: Sequence[Word], place: Place) -> None:
    for word in words:
        if word.glob or (word.text.startswith("-") and word.text != "-"):
            raise Refused(f"{word.text} could be an option")
        if not place.holds(word.text):
            raise Refused(say("{path} is outside of the workspace", path=word.text))


ARCHIVERS: dict[str, Program] = {
    "tar": Program(recognise=recognise_tar, names_only=True),
    "unzip": Program(recognise=recognise_unzip, names_only=True),
}
