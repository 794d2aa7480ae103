"""Secret masking: keys and passwords in tool output are hidden before it is stored, shown or sent."""
