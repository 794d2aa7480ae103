"""Hooks: the person's programs, run at certain points of a turn. They may tighten permissions, never loosen them."""
