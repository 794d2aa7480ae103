"""The native agent: coderelay's own loop of a model and tools."""
