"""What surrounds the loop: when a list of steps is due, and how work is checked. Decisions; nothing runs here."""
