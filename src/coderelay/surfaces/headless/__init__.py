"""`coder -p`: one turn without a terminal."""
