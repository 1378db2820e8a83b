"""The roles app: candidates want roles, external scrapers search for each role once, and every candidate
is matched.
"""
