"""What the disk says about a command: links, programs, files with secrets."""

from collections.abc import Mapping

from msgspec import Struct


class DiskFacts(Struct, frozen=True):
    """What the host found on the disk about a command. `targets` are the paths to which the symbolic links lead that
    the command names. `programs` maps a word of the command, or of a rule, to the paths that it resolves to, link by
    link. `secret` is a file of secrets whose content the command would show; `too_many` says that there were too many
    files to look at all of their names."""

    targets: tuple[str, ...] = ()
    programs: Mapping[str, tuple[str, ...]] = {}
    secret: str = ""
    too_many: bool = False


NO_FACTS = DiskFacts()
