"""Where commands are confined. `sandbox.py` is the contract; each way to do it has a file of its own."""
