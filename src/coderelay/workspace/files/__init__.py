"""Files beneath the session's folders: read, written and compared without following links."""
