"""User interfaces: the terminal, the web server, and the headless `coder -p`. Each surface uses a Client and nothing behind it."""
