"""Programs we know well enough to say that an argument vector only reads."""
