"""The store: one protocol, two backends, one home for SQL. Synchronous; whole transactions run on database
threads.
"""
