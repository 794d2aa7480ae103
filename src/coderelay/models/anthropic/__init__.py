"""The Anthropic Messages form."""
