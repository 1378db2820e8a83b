"""The commands of the queries app."""
