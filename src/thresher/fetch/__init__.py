"""Fetching: polite and safe HTTP, robots.txt, caching and a browser. It knows interfaces of the store, not
the store.
"""
