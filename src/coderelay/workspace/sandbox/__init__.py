"""The sandbox that commands run in. `session_sandbox.py` is the entry point; each way to confine has its own file."""
