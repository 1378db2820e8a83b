"""Verdicts: found, confirmed empty, unknown or blocked."""
