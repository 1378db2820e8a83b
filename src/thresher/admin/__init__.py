"""Administration: the queries and commands behind the CLI and the HTTP API that concern the machine, not
an app.
"""
