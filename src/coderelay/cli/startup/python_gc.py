"""Turns the garbage collection on when a command has been loaded."""

import gc


def enable_garbage_collection() -> None:
    """Turn on the garbage collection, which `cli.main` turned off. Every command calls this before it begins to
    work. What was loaded until now is never garbage, so it is not looked at again; what comes later may be."""
    gc.freeze()
    gc.enable()
