"""The OpenAI Responses form."""
