"""The configuration: files, settings and trust. Only `app` and `cli` read it."""
