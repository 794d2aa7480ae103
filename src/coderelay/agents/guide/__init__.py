"""The guide: an agent without a model, which follows fixed rules to understand requests and carry them out."""
