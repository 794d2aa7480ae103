"""The headless surface (`coder -p`): runs one turn without a terminal."""
