"""Permission checks for shell commands: the text is parsed once, then judged by what it would do."""
