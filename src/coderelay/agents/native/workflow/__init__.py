"""The workflow around the model: when a prompt gets an initial todo list, and how the work is checked after edits."""
