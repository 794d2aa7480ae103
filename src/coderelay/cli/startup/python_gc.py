"""Turns the garbage collection on when a command has been loaded."""

import gc


def enable_garbage_collection() -> None:
    """Turn on the garbage collection, which `cli.main` turned off. Every command calls this before it begins to
    work. Objects that exist now are never garbage, so they are excluded from collection."""
    gc.freeze()
    gc.enable()
