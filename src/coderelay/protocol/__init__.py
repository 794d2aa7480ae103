"""The data types that all other packages share: events, commands, queries, errors. No behaviour beyond encoding."""
