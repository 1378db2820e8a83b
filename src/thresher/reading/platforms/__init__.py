"""Hiring platforms as data: one file each, so that a board can be added without code."""
