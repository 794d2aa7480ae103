"""Colours one can read: ⟨1⟩ is bold, ⟨31⟩ is red, ⟨⟩ is the end of it."""

import re

_CODE = re.compile(r"\x1b\[([0-9;]*)m")


def marked(text: str) -> str:
    return _CODE.sub(lambda found: "⟨⟩" if found[1] == "0" else f"⟨{found[1]}⟩", text)
