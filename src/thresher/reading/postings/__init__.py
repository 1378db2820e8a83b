"""Openings and products, from whatever of a page can be trusted most."""
