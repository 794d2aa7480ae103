"""Where the log lives. `store.py` is the contract; each engine has a file."""
