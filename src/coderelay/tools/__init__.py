"""What the native agent can do. `tool.py` is the contract; one file per tool."""
