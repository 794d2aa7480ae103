"""The two files: the person's own, and the folder's."""

import os

from coderelay.config.document import read_document
from coderelay.config.layers import Layered, layer
from coderelay.config.paths import OWN_FOLDER, folder_file, person_file, read_folder_file, read_person_file
from coderelay.config.settings import Settings


def person_settings(home: str) -> Settings | None:
    """None if there is no file."""
    content = read_person_file(home)
    return None if content is None else read_document(content, person_file(home))[1]


def folder_settings(home: str, folder: str, mine: Settings) -> Layered | None:
    """None if there is no file, or if it is the person's own because the folder is where that lies."""
    if os.path.realpath(os.path.join(folder, OWN_FOLDER)) == os.path.realpath(home):
        return None
    content = read_folder_file(folder)
    return None if content is None else layer(mine, read_document(content, folder_file(folder))[0])
