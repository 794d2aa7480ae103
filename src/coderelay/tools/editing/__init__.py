"""How the tools that change files do it: edits, patches and their previews."""
