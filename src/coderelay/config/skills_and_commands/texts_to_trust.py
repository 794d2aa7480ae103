"""The texts of a folder that have no effect until a person has trusted them."""

from coderelay.config.skills_and_commands.custom_commands import command_texts
from coderelay.config.skills_and_commands.discovery import FoundText, places_of
from coderelay.config.skills_and_commands.skills import skill_texts


def folder_texts(*, home: str, user_home: str, folder: str) -> dict[str, str]:
    """The digests of the folder's texts as they are now, by their paths in it, for the person to trust. A file that
    is changed or added later is not covered."""
    return {text.key: text.digest for text in texts_of_folder(home=home, user_home=user_home, folder=folder)}


def texts_of_folder(*, home: str, user_home: str, folder: str) -> list[FoundText]:
    """The folder's texts as they are now, trusted or not."""
    unread: list[str] = []  # dropped: a text that cannot be read is not used either, and the lookup says so
    skills = places_of("skills", home=home, user_home=user_home, folder=folder)
    commands = places_of("commands", home=home, user_home=user_home, folder=folder)
    agents = places_of("agents", home=home, user_home=user_home, folder=folder)
    return [
        *(text for place in skills if place.folder for text in skill_texts(place, unread)),
        *(text for place in (*commands, *agents) if place.folder for text in command_texts(place, unread)),
    ]
