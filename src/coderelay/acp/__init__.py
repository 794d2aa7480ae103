"""The words of the Agent Client Protocol (ACP), version 1: what a client sends, and what an agent answers."""
