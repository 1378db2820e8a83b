"""The routes of the prices app."""
