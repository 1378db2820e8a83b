"""The apps, each in its own package. No app imports another; they meet only through tasks and records."""
