"""Chat Completions with answers bound to a JSON schema."""
