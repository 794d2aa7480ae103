"""Permission policy for tool calls. Pure: the same call, rules and mode always get the same verdict."""
