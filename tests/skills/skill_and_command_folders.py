"""Skills and commands where people and folders keep them."""

from pathlib import Path

import msgspec

from coderelay.config.trust_records_file import trust
from coderelay.config.trust_review import texts_of_folder

HEAD = "---\nname: {name}\ndescription: {description}\n{more}---\n{text}\n"


def put_skill(
    place: Path, name: str, description: str = "does it", text: str = "Do it.", more: dict[str, str] | None = None
) -> Path:
    """`place` is a home of coder's, or a folder's `.coder` or `.claude`."""
    lines = "".join(f"{key}: {value}\n" for key, value in (more or {}).items())
    return put(
        place / "skills" / name / "SKILL.md", HEAD.format(name=name, description=description, text=text, more=lines)
    )


def put_command(place: Path, name: str, text: str) -> Path:
    return put(place / "commands" / f"{name}.md", text)


def put(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def put_config(home: Path, **keys: object) -> None:
    put(home / "config.json", msgspec.json.encode(keys).decode())


def trust_all(home: Path, folder: Path) -> None:
    """As a person does who has looked at everything there."""
    found = texts_of_folder(home=str(home), user_home=str(home.parent / "person"), folder=str(folder))
    texts = {each.key: each.digest for each in found}
    trust(str(home), str(folder), texts=texts)
