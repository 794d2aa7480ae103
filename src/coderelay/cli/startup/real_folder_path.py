"""Folders given on the command line, resolved relative to the current folder."""

import os

from coderelay.client.i18n import t


def resolved(given: str) -> str:
    """The real path of a folder; of the current one if `given` is empty. Raises OSError if that one was removed."""
    return os.path.realpath(given if os.path.isabs(given) else os.path.join(os.getcwd(), given))


def real_folder(given: str = "") -> str:
    """Like `resolved`, but raises BadInput."""
    try:
        return resolved(given)
    except OSError as error:
        from coderelay.protocol.errors import BadInput  # so that the first prompt does not wait for it

        raise BadInput(folder_gone_message()) from error


def folder_gone_message() -> str:
    return t("the current folder no longer exists; change to another one first")


def is_broad(folder: str) -> bool:
    """Whether this real path is the home folder or `/`, so that everything the person has lies beneath it."""
    return folder in ("/", os.path.realpath(os.path.expanduser("~")))
