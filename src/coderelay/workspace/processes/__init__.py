"""Commands as processes under a supervisor, so that none outlives its owner."""
