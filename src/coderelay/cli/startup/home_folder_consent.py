"""One-time consent to work in the home folder or `/`, where an agent can read and change all a person has."""

import os
import sys

from coderelay.client.i18n import t
from coderelay.client.typed_answer_parser import agrees
from coderelay.config.loaded_config import home_of
from coderelay.config.trust_records_file import agree_to_broad, is_agreed_to
from coderelay.protocol.errors import BadInput


def check_broad_folder(folder: str) -> None:
    """Ask for consent if a person is at the terminal. Raises BadInput if the answer is not yes, or nobody can be
    asked."""
    home = home_of(os.environ)
    if is_agreed_to(home, folder):
        return
    if not (sys.stdin.isatty() and sys.stdout.isatty()) or os.environ.get("CODER"):
        hint = t(
            "Change to your project's folder. To work here anyway, run `coder permissions trust "
            "{folder}` once, or pass `--cwd {folder}` this time.",
            folder=folder,
        )
        raise BadInput(broad_in_words(folder), hint)
    sys.stdout.write(f"{broad_in_words(folder)}\n{t('Work here anyway? You are asked only once. [y/N] ')}")
    sys.stdout.flush()
    if not agrees(sys.stdin.readline()):
        raise BadInput(t("not started, because you did not agree"), t("Change to your project's folder."))
    agree_to_broad(home, folder)


def broad_in_words(folder: str) -> str:
    if folder == "/":
        return t("This is the root of the file system: an agent here can read and change all files that you can.")
    return t("This is your home folder: an agent here can read and change everything below it.")
