"""The built-in slash commands, one file for each group of related commands."""
