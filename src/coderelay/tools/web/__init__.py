"""How web_fetch reads a page."""
