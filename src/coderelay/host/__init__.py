"""The host: it keeps the sessions of one process running."""
