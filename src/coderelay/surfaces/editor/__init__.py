"""Sessions in an editor, over the Agent Client Protocol (`coder acp`)."""
