"""Measuring ourselves, with the same code that works in production."""
