"""The HTTP routes of the jobs app."""
