"""The routes of the queries app."""
