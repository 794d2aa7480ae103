"""Models that run on this machine from a file of weights. `weights_server_process.py` is the entry point."""
