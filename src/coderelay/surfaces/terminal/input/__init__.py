"""Terminal input: key bindings, completion, history, pastes and images."""
