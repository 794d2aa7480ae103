"""How the tools that look for files and lines do it."""
