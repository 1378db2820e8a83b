"""The HTTP API and the dashboard: parse, call, render; no rules here. They say what the command line says, to
programs and in a browser.

Nothing is imported here: whoever only asks for help must not wait for a web framework.
"""
