"""User interfaces: terminal, web server, and headless `coder -p`. Each uses a Client and nothing behind it."""
