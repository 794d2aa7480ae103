"""Skills and custom commands: Markdown files of the person and of a folder."""
