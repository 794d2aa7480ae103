"""The built-in `/` commands, a file for each family."""
