"""What a shell command does, read from its text: parsed once, then judged."""
