"""Rendering of session content as coloured text for the terminal. Each line sets and resets its own colours.

Nothing here prints. Only the sixteen basic terminal colours are used, and no background colours, so that the text is
readable on dark and light themes. No meaning is conveyed by colour alone, so colours can be stripped
(`columns.without_colours`).
"""
