"""Whoever completes one step for the native agent. `model.py` is the contract."""
