"""May this run? Pure: the same call, rules and mode always get the same verdict."""
