"""The commands of the jobs app."""
