"""The folder an agent works in: its files, its commands, its history."""
