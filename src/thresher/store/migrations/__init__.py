"""Numbered schema changes. A file is never edited once it has been released; the next number mends it."""
