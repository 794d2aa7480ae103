"""Models that run on this machine from a file of weights. `model.py` is the entry point."""
