"""The places where people and folders keep texts for agents."""

from pathlib import Path

from coderelay.config.skills_and_commands.trusted_text_files import TextFolder, TextKind, places_of
from coderelay.config.trust_review import texts_of_folder


class Shelf:
    """A person's home, coder's own, and a folder to work in."""

    def __init__(self, root: Path) -> None:
        self.user, self.home, self.folder = root / "user", root / "home", root / "work"
        for each in (self.user, self.home, self.folder):
            each.mkdir()

    def put(self, file: Path, content: str = "Do it.") -> Path:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content)
        return file

    def put_skill(
        self, place: Path, name: str, description: str = "does it", body: str = "Do it.", *more: str
    ) -> Path:
        head = ("---", f"name: {name}", f"description: {description}", *more, "---", body)
        return self.put(place / name / "SKILL.md", "\n".join(head))

    def places(self, kind: TextKind) -> list[TextFolder]:
        return places_of(kind, home=str(self.home), user_home=str(self.user), folder=str(self.folder))

    def trusted(self) -> dict[str, str]:
        """What a person agrees to who trusts the folder now."""
        found = texts_of_folder(home=str(self.home), user_home=str(self.user), folder=str(self.folder))
        return {each.key: each.digest for each in found}
