"""The store: one protocol, two backends, and the machine's SQL. Synchronous; transactions run on database
threads.
"""
