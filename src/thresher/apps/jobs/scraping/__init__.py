"""Scraping: walk the boards that are due, and find out which postings are new, changed or gone."""
