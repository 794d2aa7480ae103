"""What the host found on the disk about one command, before it is judged."""

from collections.abc import Mapping

from msgspec import Struct


class DiskFacts(Struct, frozen=True):
    """`targets` are the paths to which links lead that the command names. `programs` leads from a word of it, or of a
    rule, to the paths that the word stands for, link by link. `secret` is a file of secrets whose content would be
    shown; with `too_many`, there were too many files to look at all of their names."""

    targets: tuple[str, ...] = ()
    programs: Mapping[str, tuple[str, ...]] = {}
    secret: str = ""
    too_many: bool = False


NO_FACTS = DiskFacts()
