"""What we ship for other people's tests: the suite that every store must pass, and a small model server."""
