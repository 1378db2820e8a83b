"""The commands of the extractions app."""
