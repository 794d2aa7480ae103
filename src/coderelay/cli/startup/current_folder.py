"""Folders as they are given on the command line, from the one that `coder` was called in."""

import os

from coderelay.client.language import t


def resolved(given: str) -> str:
    """The real path of a folder, of the current one if nothing is given. Raises OSError if that was removed."""
    return os.path.realpath(given if os.path.isabs(given) else os.path.join(os.getcwd(), given))


def real_folder(given: str = "") -> str:
    """The same. Raises BadInput."""
    try:
        return resolved(given)
    except OSError as error:
        from coderelay.protocol.errors import BadInput  # the first prompt does not wait for it

        raise BadInput(gone()) from error


def gone() -> str:
    return t("the current folder is gone; go to another one first")


def is_broad(folder: str) -> bool:
    """Whether everything that the person has lies beneath this real path: their home folder, or `/`."""
    return folder in ("/", os.path.realpath(os.path.expanduser("~")))
