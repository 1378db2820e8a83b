"""Learned extractors."""
