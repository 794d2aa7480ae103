"""Snapshots of a folder as git trees, what differs between them, and undo."""
