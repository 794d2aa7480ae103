"""Support for other people's tests: a conformance suite for stores, and a small model server."""
