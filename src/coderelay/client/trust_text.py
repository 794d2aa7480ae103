"""What a folder brings that is not trusted yet, in full, for a person to review."""

from itertools import groupby

from coderelay.client.i18n import t
from coderelay.protocol.query_results import TrustShown, UntrustedText


def trust_in_words(shown: TrustShown) -> str:
    """Everything that would be trusted, in full: settings by file, then the text of each file."""
    by_file = groupby(shown.settings, lambda each: each.file)
    settings = [
        "\n".join([t("{file} sets:", file=file), *(f"  {each.key} = {each.value}" for each in group)])
        for file, group in by_file
    ]
    return "\n\n".join([*settings, *map(_whole, shown.texts)])


def _whole(text: UntrustedText) -> str:
    what = t("changed") if text.changed else t("new")
    lines = text.text.rstrip().splitlines() or [t("(empty)")]
    return "\n".join([f"{text.path}  ({what})", *(f"  │ {line}".rstrip() for line in lines)])
