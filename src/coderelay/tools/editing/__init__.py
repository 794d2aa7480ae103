"""Shared code of the tools that change files: edits, patches and their previews."""
