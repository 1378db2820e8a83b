"""The embedded backend: one file, one writer at a time, several processes allowed."""
