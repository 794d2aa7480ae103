"""Models that run on this machine from a file of weights. `local_models.py` is the entry point."""
