"""The HTTP API: parse, call, render; no rules here. What it says is what the command line says, for programs.

Nothing is imported here: whoever only asks for help must not wait for a web framework.
"""
