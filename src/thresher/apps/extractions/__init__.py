"""Whole sites into data sets, by recipe."""
