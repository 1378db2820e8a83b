"""The SQL of the prices app."""
