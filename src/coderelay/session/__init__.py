"""The session itself, pure: what the log says, what may happen next. No clock, no disk, no asyncio."""
