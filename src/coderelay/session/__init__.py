"""The pure logic of a session: what its log says, what may happen next. No clock, no disk, no asyncio."""
