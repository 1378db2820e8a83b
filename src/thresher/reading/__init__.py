"""Reading pages: pure functions from bytes to what they say. No sockets, files or clocks."""
