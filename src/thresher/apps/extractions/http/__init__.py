"""The routes of the extractions app."""
