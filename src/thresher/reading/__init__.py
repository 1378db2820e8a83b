"""Reading pages: pure functions from bytes to what they say. Nothing here opens a socket, a file or a
clock.
"""
