"""What the person has set. Read in `app` and `cli` only."""
