"""Our own agent: a model and tools in a loop."""
