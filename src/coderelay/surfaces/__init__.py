"""Where people are. Each surface holds a Client and nothing behind it."""
