"""Models that run on this machine from a file of weights. `provider.py` is the entry point."""
