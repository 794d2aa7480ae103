"""Which model a person can use already, found without asking."""
