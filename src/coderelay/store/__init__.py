"""Storage of the session log. `store.py` is the contract; each database engine has a package of its own."""
