"""Learned extractors: from a few pages with known values to rules that read the rest of the site. Pure."""
