"""The OpenAI Responses wire format."""
