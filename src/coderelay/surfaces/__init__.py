"""User interfaces: the terminal, and the headless `coder -p`. Each surface uses a Client and nothing behind it."""
