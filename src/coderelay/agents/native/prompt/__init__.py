"""The texts that the model gets besides the conversation: system prompt, project instructions and notes."""
