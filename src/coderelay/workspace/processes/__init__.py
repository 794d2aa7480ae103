"""Runs commands as processes under a supervisor, so that none outlives the process that started it."""
