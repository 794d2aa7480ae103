"""The web surface: `coder web` serves the events of all sessions, and takes commands, over one WebSocket."""
