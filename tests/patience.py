"""How long a test waits for what must come."""

import os

PATIENCE = float(os.environ.get("CODER_TEST_PATIENCE", "100"))
"""Seconds, enough for a machine that is busy with other things: only a test that fails takes so long. Whoever looks
for a mistake may set less. pytest ends a test after 300 seconds."""

GROWING_LIMITS = (0.5, 5.0, 50.0)
"""Time limits to try in turn, where a test needs a command that has begun before its limit ends it."""
