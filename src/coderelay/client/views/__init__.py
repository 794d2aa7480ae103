"""Events in the message formats of outside programs."""
