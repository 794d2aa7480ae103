"""Folders as they are given on the command line, from the one that `coder` was called in."""

import os

from coderelay.client.language import t
from coderelay.protocol.errors import BadInput


def real_folder(given: str = "") -> str:
    """The real path of a folder, of the current one if nothing is given. Raises BadInput if that was removed."""
    try:
        return os.path.realpath(given if os.path.isabs(given) else os.path.join(os.getcwd(), given))
    except OSError as error:
        raise BadInput(t("the current folder is gone"), t("Go to another folder first.")) from error
