"""What keeps sessions running inside one process."""
