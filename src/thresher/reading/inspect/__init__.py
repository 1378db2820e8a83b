"""Inspection: everything that can be read from one page."""
