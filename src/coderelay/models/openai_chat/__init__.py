"""The OpenAI Chat Completions form."""
