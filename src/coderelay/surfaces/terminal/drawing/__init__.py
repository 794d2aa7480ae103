"""What things look like in the scrollback: text with colours, in lines that stand for themselves. Nothing prints.

Colours are of the sixteen that every terminal has, and nothing has a background, so it is readable on dark and light.
Whoever wants none of them takes them away (`paint.without_colours`): no meaning is in a colour alone.
"""
