"""Benchmarks: one table, each row beside a floor measured in the same run. `python -m bench --help`."""
