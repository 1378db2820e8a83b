"""The SQL of the roles app."""
