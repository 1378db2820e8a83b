"""The commands of the roles app."""
