"""The guide: an agent without a model. `intents` is the table of what it understands, `plans` what it does then."""
