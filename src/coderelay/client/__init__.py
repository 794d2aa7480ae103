"""Code shared by all surfaces. `client.py` is the contract between surfaces and sessions."""
