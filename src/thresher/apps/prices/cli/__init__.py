"""The commands of the prices app."""
