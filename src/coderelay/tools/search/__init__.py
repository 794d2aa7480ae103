"""Shared code of the tools that search: glob patterns, .gitignore rules, folder walks."""
