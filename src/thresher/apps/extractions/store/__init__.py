"""The SQL of the extractions app."""
