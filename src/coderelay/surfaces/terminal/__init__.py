"""The terminal surface: the interactive session screen and the plain line loop."""
