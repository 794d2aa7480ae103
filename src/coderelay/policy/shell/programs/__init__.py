"""Tables of known programs: which of their options only read, what they start, and what is dangerous."""
