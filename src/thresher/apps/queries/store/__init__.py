"""The SQL of the queries app."""
