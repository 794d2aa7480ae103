"""Coding agents that can be started in one place and steered from any other."""

__version__ = "0.1.0"
