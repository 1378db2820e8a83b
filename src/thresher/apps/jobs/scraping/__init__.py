"""Scraping."""
