"""What a person is told of files that a sandbox restored after a process died."""

from coderelay.app import App
from coderelay.client.i18n import t
from coderelay.client.visible_text import visible


def restored_files_message(app: App) -> str:
    """A message about files that git obeys, which commands of a killed process had changed and which were now put
    back or moved aside; usually empty."""
    restored = app.workspaces.recover()
    if not restored:
        return ""
    return t(
        "a killed process had changed files that control what git runs; restored or moved aside (*.moved-*): {paths}",
        paths=", ".join(map(visible, restored)),
    )
