"""What a person types: keys, completion, history, pastes and images."""
