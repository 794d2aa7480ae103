"""The model clients of the native agent, one for each wire format. `model.py` defines the interface."""
