"""Agents: the programs that run a turn. `agent.py` is their contract."""
