"""Dependency wiring: the only room that knows concrete parts. `App` builds all that a process needs."""

from coderelay.app.app import App

__all__ = ["App"]
