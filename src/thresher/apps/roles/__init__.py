"""The roles app: candidates want roles, scrapers outside look for postings of a role once, and every
candidate of it is matched.
"""
