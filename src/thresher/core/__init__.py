"""The pure vocabulary: states, tasks, outcomes, settlements, errors. Nothing here reads a clock, a file or a
socket.
"""
