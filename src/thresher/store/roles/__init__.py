"""Roles in the database: their names, their queue, the sessions of scrapers, and the matches that come of
it.
"""
