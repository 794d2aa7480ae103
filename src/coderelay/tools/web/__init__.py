"""Fetches and reads web pages for the `web_fetch` tool."""
