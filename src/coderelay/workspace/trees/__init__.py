"""Snapshots of a folder as git trees, diffs between them, and undo."""
