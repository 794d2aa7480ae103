"""Changed files as text: a line for each file, and the part of a diff that is about one file or folder."""

from coderelay.client.i18n import t
from coderelay.client.text_width import padded, width_of
from coderelay.protocol.query_results import FileChange

_KINDS = ("added", "modified", "deleted", "renamed")


def changed_line(change: FileChange) -> str:
    name = f"{change.was} → {change.path}" if change.was else change.path
    size = t("binary") if change.binary else f"+{change.added} -{change.deleted}"
    return f"{padded(t(change.kind), 8)} {' ' * (9 - width_of(size))}{size}  {name}"
