"""The tools of the native agent. `tool.py` defines the interface; each tool has a file of its own."""
