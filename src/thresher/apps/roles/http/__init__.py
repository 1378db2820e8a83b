"""The HTTP routes of the roles app."""
