"""The dashboard pages of the extractions app."""
