"""The OpenAI Chat Completions wire format."""
