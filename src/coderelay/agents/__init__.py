"""Whoever runs a turn. `agent.py` is the contract."""
