"""The Anthropic Messages wire format."""
