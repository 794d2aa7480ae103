"""What every surface holds. `client.py` is the contract."""
