"""What a person says yes to who trusts a folder's skills and commands: each file, by the digest of its content."""

from coderelay.config.texts.custom_commands import command_texts
from coderelay.config.texts.folders import places_of
from coderelay.config.texts.skills import skill_texts


def folder_texts(*, home: str, user_home: str, folder: str) -> dict[str, str]:
    """By their paths in the folder. A file that is changed or added later is not among them."""
    unread: list[str] = []  # what cannot be read is not used either, which is said where it is looked for
    skills = places_of("skills", home=home, user_home=user_home, folder=folder)
    commands = places_of("commands", home=home, user_home=user_home, folder=folder)
    texts = [
        *(text for place in skills if place.folder for text in skill_texts(place, unread)),
        *(text for place in commands if place.folder for text in command_texts(place, unread)),
    ]
    return {text.key: text.digest for text in texts}
